"""The public names: each with the module that it is imported from when it is first asked for."""

from . import theory as theory
from .api import (
    Part as Part,
    allow as allow,
    packmime as packmime,
    run as run,
    run_live as run_live,
    schema as schema,
    simulate as simulate,
    simulate_many as simulate_many,
    variant_name as variant_name,
    variants as variants,
)
from .channels import (
    read_mahimahi as read_mahimahi,
    read_rates as read_rates,
)
from .comparison import (
    Comparison as Comparison,
    compare as compare,
)
from .distributions import (
    Exponential as Exponential,
    Lognormal as Lognormal,
    Pareto as Pareto,
    Quantiles as Quantiles,
    Uniform as Uniform,
    Values as Values,
    Weibull as Weibull,
    read_quantiles as read_quantiles,
)
from .errors import BadInput as BadInput
from .judging import (
    CaseDifference as CaseDifference,
    Judgement as Judgement,
    judge as judge,
)
from .results import Run as Run
from .scenario import (
    Admission as Admission,
    After as After,
    App as App,
    Bulk as Bulk,
    BurstLoss as BurstLoss,
    Bursts as Bursts,
    Cbr as Cbr,
    Cellular as Cellular,
    Channel as Channel,
    CoDel as CoDel,
    CrossTraffic as CrossTraffic,
    Dash as Dash,
    DelayedAck as DelayedAck,
    Dumbbell as Dumbbell,
    Event as Event,
    Flow as Flow,
    FqCoDel as FqCoDel,
    Graph as Graph,
    GraphLink as GraphLink,
    Idle as Idle,
    Iperf3 as Iperf3,
    Limited as Limited,
    Link as Link,
    LinkChange as LinkChange,
    Measure as Measure,
    OnOff as OnOff,
    PeriodicLoss as PeriodicLoss,
    Pie as Pie,
    Probe as Probe,
    Program as Program,
    Queue as Queue,
    QueueChange as QueueChange,
    QuickStart as QuickStart,
    Rates as Rates,
    RcpRouter as RcpRouter,
    Red as Red,
    Reorder as Reorder,
    Reverse as Reverse,
    Scenario as Scenario,
    Tcp as Tcp,
    Topology as Topology,
    Trace as Trace,
    Traffic as Traffic,
    Video as Video,
    Wifi as Wifi,
    XcpRouter as XcpRouter,
    dumbbell as dumbbell,
    graph as graph,
)
from .scripts import (
    Drill as Drill,
    ScriptDifference as ScriptDifference,
    ScriptFailure as ScriptFailure,
    ScriptOutcome as ScriptOutcome,
    ScriptReport as ScriptReport,
    drill as drill,
)
from .traffic import (
    Access as Access,
    AccessLine as AccessLine,
    At as At,
    Browser as Browser,
    Feedback as Feedback,
    PackMime as PackMime,
    PackMimeArrivals as PackMimeArrivals,
    Periodic as Periodic,
    Poisson as Poisson,
    Request as Request,
    Share as Share,
    Upload as Upload,
    Utilisation as Utilisation,
)
from .video import (
    read_video as read_video,
    scale_pictures as scale_pictures,
)

__version__: str
