"""The personalized mechanism (PUM, Section 5): each user decides what is sensitive, in secret.

All users share one *common* mechanism, over a `TaggedDomain`: the values and one more, a bot, for
each tag such as "home". On her own device a user's `PersonalizedMechanism` replaces what is
sensitive to her by the bot of its tag before the common mechanism runs. `SecretMaps` does this for
a whole population at once.

The collector knows the common mechanism alone. From the reports, `estimate` computes the
distribution of the values, with whatever is known about where each tag occurs; `summary` is a table
of it with errors, and `total` one number. `JointLaw` holds the
truth to compare it with, and `posterior` what reports tell about one user's secret.

>>> places = Domain(["park", "clinic", "elm street", "oak street"], sensitive=["clinic"])
>>> common = UtilityOptimizedRR(TaggedDomain(places, tags=["home"]), epsilon=1.0)
>>> alice = PersonalizedMechanism(common, user_sensitive={"elm street": "home"})
>>> from uldp.survey import secure
>>> report = alice.privatize("elm street", rng=secure.generator())
"""

from typing import TYPE_CHECKING as _TYPE_CHECKING, Any as _Any

from uldp._names import found as _found
from uldp.personalized.collector import JointLaw, LossTerms, PersonalizedEstimate, estimate
from uldp.personalized.population import SecretMaps
from uldp.personalized.secrecy import posterior
from uldp.personalized.tagged import OTHERS, TaggedDomain
from uldp.personalized.users import PersonalizedMechanism

if _TYPE_CHECKING:
    from uldp.inference.answers import PersonalizedTotal, summary, total

__all__ = [
    "OTHERS",
    "JointLaw",
    "LossTerms",
    "PersonalizedEstimate",
    "PersonalizedMechanism",
    "PersonalizedTotal",
    "SecretMaps",
    "TaggedDomain",
    "estimate",
    "posterior",
    "summary",
    "total",
]


def __getattr__(name: str) -> _Any:
    return _found("uldp.personalized", name)


def __dir__() -> list[str]:
    return __all__
