"""The public names: each with the module that it is imported from when it is first asked for."""

from . import metrics as metrics, theory as theory
from .aggregations import (
    Aggregation as Aggregation,
    Ampdu as Ampdu,
    Grants as Grants,
    Hold as Hold,
)
from .api import (
    Part as Part,
    Variable as Variable,
    allow as allow,
    law_variables as law_variables,
    packmime as packmime,
    run as run,
    run_live as run_live,
    schema as schema,
    simulate as simulate,
    simulate_many as simulate_many,
    variant_name as variant_name,
    variants as variants,
)
from .apps import (
    App as App,
    Bulk as Bulk,
    Bursts as Bursts,
    Cbr as Cbr,
    Dash as Dash,
    Frames as Frames,
    Idle as Idle,
    Iperf3 as Iperf3,
    Limited as Limited,
    OnOff as OnOff,
    Program as Program,
    Video as Video,
)
from .channels import (
    BurstLoss as BurstLoss,
    Cellular as Cellular,
    Channel as Channel,
    PeriodicLoss as PeriodicLoss,
    Rates as Rates,
    Shaper as Shaper,
    Trace as Trace,
    Wifi as Wifi,
)
from .checking import (
    LawCheck as LawCheck,
    check_law as check_law,
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
)
from .errors import BadInput as BadInput
from .events import (
    After as After,
    Event as Event,
    LinkChange as LinkChange,
    Measure as Measure,
    Probe as Probe,
    QueueChange as QueueChange,
)
from .feedback import (
    RcpRouter as RcpRouter,
    XcpRouter as XcpRouter,
)
from .flows import (
    CrossTraffic as CrossTraffic,
    Flow as Flow,
)
from .identity import (
    rules_id as rules_id,
)
from .jitters import (
    Delays as Delays,
    Jitter as Jitter,
    NetemJitter as NetemJitter,
    NormalJitter as NormalJitter,
    Slots as Slots,
    Steps as Steps,
    UniformJitter as UniformJitter,
    WifiJitter as WifiJitter,
)
from .judging import (
    CaseDifference as CaseDifference,
    Judgement as Judgement,
    judge as judge,
)
from .laws import (
    Growth as Growth,
    get_include as get_include,
    law_structs as law_structs,
    load_law as load_law,
    register_law as register_law,
)
from .links import (
    AckThinning as AckThinning,
    Dumbbell as Dumbbell,
    Graph as Graph,
    GraphLink as GraphLink,
    Link as Link,
    Outage as Outage,
    Path as Path,
    Reorder as Reorder,
    Reverse as Reverse,
    Topology as Topology,
)
from .measured import (
    read_mahimahi as read_mahimahi,
    read_quantiles as read_quantiles,
    read_rates as read_rates,
)
from .pairs import (
    Pairwise as Pairwise,
    pairwise as pairwise,
)
from .queues import (
    Cake as Cake,
    Cobalt as Cobalt,
    CoDel as CoDel,
    Drr as Drr,
    FqCobalt as FqCobalt,
    FqCoDel as FqCoDel,
    FqPie as FqPie,
    Pie as Pie,
    Policer as Policer,
    Prio as Prio,
    Queue as Queue,
    Red as Red,
    Sfq as Sfq,
)
from .quick_start import (
    Admission as Admission,
    QuickStart as QuickStart,
)
from .runs import Run as Run
from .scenario import Scenario as Scenario
from .scripts import (
    Drill as Drill,
    ScriptDifference as ScriptDifference,
    ScriptFailure as ScriptFailure,
    ScriptOutcome as ScriptOutcome,
    ScriptReport as ScriptReport,
    drill as drill,
)
from .showing import show as show
from .sweeping import (
    forecast as forecast,
    results as results,
    search as search,
    sweep as sweep,
)
from .tables import (
    Table as Table,
    read_table as read_table,
)
from .tcp import (
    Autotune as Autotune,
    DelayedAck as DelayedAck,
    Tcp as Tcp,
)
from .topologies import (
    dumbbell as dumbbell,
    graph as graph,
    path as path,
)
from .tracing import (
    LawTrace as LawTrace,
    law_trace as law_trace,
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
    Traffic as Traffic,
    Upload as Upload,
    Utilisation as Utilisation,
)
from .video import (
    read_video as read_video,
    scale_pictures as scale_pictures,
)

__version__: str
