"""The public names: each with the module that it is imported from when it is first asked for."""

from .base.errors import BadInput as BadInput
from .laws.checking import (
    LawCheck as LawCheck,
    check_law as check_law,
)
from .laws.own import (
    Growth as Growth,
    get_include as get_include,
    law_structs as law_structs,
    load_law as load_law,
    register_law as register_law,
)
from .laws.tracing import (
    LawTrace as LawTrace,
    law_trace as law_trace,
)
from .live.judging import (
    CaseDifference as CaseDifference,
    Judgement as Judgement,
    judge as judge,
)
from .live.judging_scenarios import (
    ScenarioDifference as ScenarioDifference,
    ScenarioJudgement as ScenarioJudgement,
    judge_scenarios as judge_scenarios,
)
from .live.scripts import (
    Drill as Drill,
    ScriptDifference as ScriptDifference,
    ScriptFailure as ScriptFailure,
    ScriptOutcome as ScriptOutcome,
    ScriptReport as ScriptReport,
    drill as drill,
)
from .live.video import (
    read_video as read_video,
    scale_pictures as scale_pictures,
)
from .notebook.showing import show as show
from .runs import metrics as metrics, theory as theory
from .runs.api import (
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
from .runs.comparison import (
    Comparison as Comparison,
    compare as compare,
)
from .runs.identity import (
    rules_id as rules_id,
)
from .runs.pairs import (
    Pairwise as Pairwise,
    pairwise as pairwise,
)
from .runs.run import Run as Run
from .runs.sweeping import (
    forecast as forecast,
    results as results,
    search as search,
    sweep as sweep,
)
from .runs.tables import (
    Table as Table,
    read_table as read_table,
)
from .scenario.apps import (
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
from .scenario.channels import (
    Aggregation as Aggregation,
    Ampdu as Ampdu,
    BurstLoss as BurstLoss,
    Cellular as Cellular,
    Channel as Channel,
    Grants as Grants,
    Hold as Hold,
    PeriodicLoss as PeriodicLoss,
    Rates as Rates,
    Shaper as Shaper,
    Trace as Trace,
    Wifi as Wifi,
)
from .scenario.distributions import (
    Exponential as Exponential,
    Lognormal as Lognormal,
    Pareto as Pareto,
    Quantiles as Quantiles,
    Uniform as Uniform,
    Values as Values,
    Weibull as Weibull,
)
from .scenario.events import (
    After as After,
    Event as Event,
    LinkChange as LinkChange,
    Measure as Measure,
    Probe as Probe,
    QueueChange as QueueChange,
)
from .scenario.flows import (
    CrossTraffic as CrossTraffic,
    Flow as Flow,
)
from .scenario.jitters import (
    Delays as Delays,
    Jitter as Jitter,
    NetemJitter as NetemJitter,
    NormalJitter as NormalJitter,
    Slots as Slots,
    Steps as Steps,
    UniformJitter as UniformJitter,
    WifiJitter as WifiJitter,
)
from .scenario.links import (
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
from .scenario.measured import (
    read_mahimahi as read_mahimahi,
    read_quantiles as read_quantiles,
    read_rates as read_rates,
)
from .scenario.queues import (
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
from .scenario.routers import (
    Admission as Admission,
    QuickStart as QuickStart,
    RcpRouter as RcpRouter,
    XcpRouter as XcpRouter,
)
from .scenario.scenario import Scenario as Scenario
from .scenario.tcp import (
    Autotune as Autotune,
    DelayedAck as DelayedAck,
    Tcp as Tcp,
)
from .scenario.topologies import (
    dumbbell as dumbbell,
    graph as graph,
    path as path,
)
from .scenario.traffic import (
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

__version__: str
