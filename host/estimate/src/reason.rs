//! Why a quantity is not identifiable.

/// What makes other packets of those that were sent.
pub const ALTERED: &str = "something makes other packets of them: another snap length at one end, fragmentation, address translation (NAT), a tunnel, \
     rewritten headers, or a network card that cuts and joins packets (TSO, GRO)";

/// Why a quantity cannot be determined from what the two ends reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum Reason {
    /// No packet arrived, so there is no delay to speak of.
    #[error("not identifiable: no packet was received")]
    NothingReceived,
    /// Packets arrived, but neither end's cells hold any.
    #[error("not identifiable: no packet was sampled; a bank with a shorter prefix samples more")]
    NothingSampled,
    /// Every row that holds packets holds a different number at the two ends.
    #[error(
        "not identifiable: loss damaged every row; more rows or a bank with a longer prefix keep some whole"
    )]
    NoUsableRow,
    /// A single usable row says nothing about the spread between rows.
    #[error("not identifiable: only one usable row, two are needed; use more rows or a longer prefix")]
    OneUsableRow,
    /// No two adjacent rows are both usable, as the LDA paper's standard deviation needs.
    #[error("not identifiable: no two adjacent rows are both usable")]
    NoUsablePair,
    /// The LDA paper's variance came out negative: the mean is too large against the standard deviation.
    #[error(
        "not identifiable: the variance came out negative, as happens when the mean is far above the deviation"
    )]
    NegativeVariance,
    /// No row holds a single packet, the same at both ends.
    #[error(
        "not identifiable: no row holds a single packet; add a bank that samples about as many packets as it has rows"
    )]
    NoSingle,
    /// Too few rows hold a single packet for this quantile.
    #[error(
        "not identifiable: this quantile needs {needed} rows with a single packet, of which there are fewer; use more rows, \
         longer intervals, or a bank that samples about as many packets as it has rows"
    )]
    FewSingles {
        /// How many there are; over several intervals, how many they are worth.
        found: u64,
        /// How many it takes.
        needed: u64,
    },
    /// The least delay of all packets is not known, but only that of a sample.
    #[error(
        "not identifiable: packets that are not in the sample may have less delay than the least of it, which the variation counts from; the variation is \
         rather too small"
    )]
    LeastUnseen,
    /// The delays in both directions contradict each other.
    #[error(
        "not identifiable: the two directions' delays contradict each other: the offset changed by more than they are, or \
         these are not the two directions between the same points; check the segments and their ends, or take fewer \
         intervals"
    )]
    ClockMoved,
    /// More packets were received than sent.
    #[error(
        "{0} more packets were received than sent; possible causes: the two ends are swapped, the recordings did not start \
         and end together, packets were duplicated"
    )]
    Surplus(
        /// How many more.
        u64,
    ),
    /// Packets came in from elsewhere, so that sums over all packets bound nothing.
    #[error(
        "not identifiable: at least {0} packets were received that were not sent: repeated, foreign, or of another interval"
    )]
    Gained(
        /// How many at least.
        u64,
    ),
    /// No row is whole that would show packets which came in place of lost ones.
    #[error(
        "not identifiable: packets may have come in place of lost ones, and no row shows how many; take --synopsis lda, both or identity, or, where \
         loss damaged every row, a bank with a longer prefix"
    )]
    UnseenGains,
    /// Packets share rows more often than chance lets packets of different keys.
    #[error(
        "not identifiable: many packets look alike, those of one key share a row, and rows are no chance sample of all packets; choose \
         traffic whose packets differ with --filter, or look into tunnels with --inner"
    )]
    Alike,
    /// Which packet is which is a guess.
    #[error(
        "not identifiable: many packets look alike, and which of them is which, or was lost, is a guess by their times; choose traffic whose packets \
         differ with --filter, or look into tunnels with --inner"
    )]
    Guessed,
    /// Packets look like others of an interval beside theirs.
    #[error(
        "not identifiable: {0} packets look like others of an interval beside theirs, and which are whose is a guess; take longer intervals, or \
         choose traffic whose packets differ with --filter"
    )]
    Across(
        /// How many.
        u64,
    ),
    /// Packets that look alike lie in another interval at the other end.
    #[error(
        "not identifiable: {0} packets that look like others lie, by their times, in another interval at the other end; take longer intervals, or \
         choose traffic whose packets differ with --filter"
    )]
    Crossing(
        /// How many.
        u64,
    ),
    /// Rows and sums over all packets contradict each other.
    #[error(
        "not identifiable: rows and the sums over all packets contradict each other: packets that are in no row took \
         other times than those in rows, or packets were gained unseen, or times go back"
    )]
    Unsampled,
    /// The ends' control frames have no sums over all packets, or they leave more than one answer.
    #[error(
        "not identifiable: the points report no sums of all packets' times and digests, or times wrap within the interval"
    )]
    NoSums,
    /// Too few rows for an interval of the deviation.
    #[error(
        "not identifiable: fewer than about 100 rows do not show what tail the delays have; use more rows"
    )]
    FewRows,
    /// Few packets of a heavy tail make up most of the spread.
    #[error(
        "not identifiable: few late packets make up most of the spread, and how many more there are is not known"
    )]
    HeavyTail,
    /// Wild stamps are in the sums.
    #[error(
        "not identifiable: packets with wrong stamps, a second or more from where they belong, are in the sums; mend the recording or the \
         clock, or leave them out"
    )]
    WildStamps,
    /// Rounded times make up most of the spread.
    #[error(
        "not identifiable: the times are so coarse that rounding makes up half of the spread or more; record with finer times, such as \
         tcpdump --time-stamp-precision=nano"
    )]
    Rounded,
    /// Without digests, rows of equal counts may hold other packets.
    #[error(
        "not identifiable: at least {0} packets were received that were not sent, and without digests rows of equal counts \
         may hold them; measure with digests"
    )]
    Contaminated(
        /// How many at least.
        u64,
    ),
    /// The two ends' rows have nothing to do with each other.
    #[error(
        "the two ends have not seen the same packets: about as many are missing at the receiver as only it has, by rows or one by one, which loss \
         cannot do; check that the two captures are of the same traffic and time, by clocks that agree, and whether {}",
        ALTERED
    )]
    Unrelated,
    /// The ends' first packets, and their last ones, are too far apart for sums of delays, which wrap.
    #[error(
        "the two ends' clocks, or their recordings, are more than 541 s apart, and delays are known modulo \
         2^40 ns (1,100 s); bring the two clocks nearer to each other"
    )]
    ClocksTooFar,
    /// How often rows' sums of delays have wrapped is not known.
    #[error(
        "not identifiable: sums of delays wrap at 2^40 ns (1,100 s), and delays differ too much to know how often; bring the two clocks \
         nearer to each other, or use shorter intervals, more rows or longer prefixes"
    )]
    SumsWrap,
    /// Sums of times of a slice wrap, nobody knows how often.
    #[error(
        "not identifiable: a slice's sum of times wraps at 2^40 ns, and one has more packets times seconds than 1,100; use shorter intervals, \
         more rows or a shorter prefix"
    )]
    SliceWraps,
    /// Tables that can be subtracted do not show all packets that differ.
    #[error(
        "not identifiable: more packets differ than the tables can show, or several that look alike; use more rows, \
         at least 4 for every 10 packets that are lost or foreign (of lda-identity 15), or a longer prefix"
    )]
    Undecoded,
    /// Identity tables that hold a sample do not show how many packets differ.
    #[error(
        "not identifiable: the identity tables hold a sample of the packets; with prefix length 0 they hold all"
    )]
    SampledDifference,
    /// Rows share packets, as sRDA's do.
    #[error(
        "not identifiable: a packet is in several rows of one array, so that their spread is not that of delays; take rda or identity"
    )]
    SharedRows,
    /// Cells hold flows, which are no random sample of all packets.
    #[error(
        "not identifiable: cells of flows are no random sample of all packets; with synopsis lda they are, with lds they say the delay of flows"
    )]
    OfFlows,
    /// Slices need a path that keeps order.
    #[error(
        "not identifiable: packets did not keep their order, or at least {0} were received that were not sent; slices need a path that \
         keeps order, take --synopsis lda or both"
    )]
    Reordered(
        /// How many boundaries were crossed, or packets gained, at least.
        u64,
    ),
    /// A table of slices was full before the interval ended.
    #[error(
        "not identifiable: the table of slices was full before the interval ended, and its boundaries are no sample of all packets; use \
         shorter intervals, more rows or a longer prefix"
    )]
    FullTable,
    /// The interval is void.
    #[error("not identifiable: the interval is void")]
    Void,
    /// Some of the combined intervals with packets have no value.
    #[error(
        "not identifiable: {0} intervals with packets have no value, as they lost most or have few packets, and so may differ from the others; see \
         the intervals"
    )]
    Missing(
        /// How many.
        usize,
    ),
    /// All packets of a sample took the same time.
    #[error("not identifiable: all packets of the sample took the same time, and others may have taken any")]
    ConstantSample,
    /// None of the combined intervals had a value.
    #[error("not identifiable: no interval had a value")]
    NoInterval,
    /// A flow shares its cells with too many packets of others.
    #[error(
        "too small to say: the flow has at most {packets} packets, and {others} of others may be among those of its cells; use more \
         cells, or ask for fewer flows"
    )]
    TooSmall {
        /// What the flow has at most.
        packets: u64,
        /// What others may add.
        others: u64,
    },
    /// A flow has no two cells of a row with packets, the same at both ends.
    #[error("not identifiable: the flow has no two usable cells of one row; give flows more cells (width)")]
    OneCell,
    /// A flow's cells may hold other flows' packets.
    #[error(
        "not identifiable: other flows' packets are in the flow's cells, or may be; design more columns (rows), or end intervals more often"
    )]
    Shared,
    /// A flow lost packets, which damaged cells.
    #[error(
        "not identifiable: the flow lost packets, and those in its undamaged cells are a part whose deviation may be another"
    )]
    Damaged,
    /// All of a flow's cells have the same mean.
    #[error(
        "not identifiable: all of the flow's cells have the same mean delay, from which no spread can be told"
    )]
    NoSpread,
    /// A flow has so many packets in so long an interval that sums of their delays may have wrapped.
    #[error(
        "not identifiable: a cell's sum of delays wraps at 2^40 ns (1,100 s), and so many packets of the flow in an interval this long may have more together; \
         end intervals more often"
    )]
    LongInterval,
}
