import pytest

from tests.deploy.promql import names_of


@pytest.mark.parametrize(
    ("expression", "metrics", "labels"),
    [
        ("up", {"up"}, set()),
        ('sum by (a, le) (rate(x_total{b="1", c=~"y|z"}[5m])) / y > 0.5', {"x_total", "y"}, {"a", "le"}),
        ("topk(1, a / on (i) group_left (j) b) unless c offset 5m", {"a", "b", "c"}, {"i", "j"}),
        ("histogram_quantile(0.99, sum(rate(h_bucket[15s])) without (k))", {"h_bucket"}, {"k"}),
    ],
)
def test_metrics_and_labels_are_found(expression, metrics, labels):
    names = names_of(expression)
    assert {selector.metric for selector in names.selectors} == metrics
    assert names.labels == labels


def test_matchers_and_ranges_belong_to_their_selector():
    first, second = names_of('rate(a{b="1",c=~"y|z"}[5m]) + d{}').selectors
    assert first.matchers == (("b", "=", "1"), ("c", "=~", "y|z"))
    assert (first.ranged, second.ranged) == (True, False)
