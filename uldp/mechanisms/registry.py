"""Every mechanism: a further one is a file beside this one, and a line here.

In the order in which tables show them, each under the `names` of its class.
"""

from uldp.mechanisms.response import RandomizedResponse as RandomizedResponse
from uldp.mechanisms.rappor import Rappor as Rappor
from uldp.mechanisms.response import UtilityOptimizedRR as UtilityOptimizedRR
from uldp.mechanisms.rappor import UtilityOptimizedRappor as UtilityOptimizedRappor
from uldp.mechanisms.block_design import UtilityOptimizedBlockDesign as UtilityOptimizedBlockDesign
from uldp.mechanisms.hadamard import UtilityOptimizedHadamard as UtilityOptimizedHadamard
