"""Losses, regimes, limits, the best θ and garblings."""

import uldp
from malformed.reports import ONE_SIZE, URAP
from malformed.table import (
    DOMAIN,
    NOT_DOMAINS,
    NOT_FLAGS,
    NOT_LOSSES,
    NOT_MECHANISMS,
    UNIFORM,
    URR,
    Call,
    K,
    both_tests,
    call,
    distribution,
    real,
    weights,
    whole,
)
from uldp import losses
from uldp.beyond import limits
from uldp.paper import garbling, regimes


def calls_of_losses() -> list[Call]:
    law, p = (URR, NOT_MECHANISMS), (UNIFORM, distribution(K))
    n, exact, loss = (9, whole(0, -1)), (..., NOT_FLAGS), ("l2", NOT_LOSSES)
    s, k = (1, whole(-1, 3)), (2, whole(1, 0))
    sizes = {"s": (3, whole(-1)), "nu": (2, whole(-1))}
    epsilon = 1.0, real(0, -1, 9e-10)
    no_uRAP = [*NOT_MECHANISMS, URR, ONE_SIZE]
    nothing_sensitive = uldp.UtilityOptimizedRappor(uldp.Domain(2), 1.0)
    return [
        call(losses.variances, law=law, p=p),
        call(losses.l1_loss, law=law, p=p, n=n, exact=exact),
        call(losses.l2_loss, law=law, p=p, n=n),
        call(
            losses.total_variance,
            law=law,
            weights=(UNIFORM, weights()),
            p=(..., distribution(K, optional=True)),
        ),
        call(losses.worst_case, law=law, loss=loss),
        call(losses.worst_case_mass, law=law, loss=loss),
        call(regimes.worst_case_loss, mechanism=law, loss=loss),
        call(regimes.rows, s=s, k=k, epsilon=epsilon),
        call(regimes.compare, loss=loss, s=s, k=k, epsilon=(..., real(0, -1, optional=True))),
        call(uldp.fundamental_limit, domain=(DOMAIN, NOT_DOMAINS), epsilon=epsilon),
        call(limits.saddle, **sizes, epsilon=epsilon),
        call(limits.saddle, s=(0, []), nu=(1, [0]), epsilon=epsilon),
        call(limits.single_size_losses, **sizes, epsilon=epsilon),
        call(limits.epsilon_from_which_uRR_is_optimal, **sizes),
        call(
            uldp.beyond.best_theta,
            mechanism=(URAP, no_uRAP),
            loss=loss,
            p=(..., distribution(K, optional=True)),
        ),
        call(garbling.rappor_as_garbling, rappor=(URAP, [*no_uRAP, nothing_sensitive])),
    ]


CALLS = calls_of_losses()
test_wrong_arguments_are_refused, test_right_arguments_are_not = both_tests(CALLS)
