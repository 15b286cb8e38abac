namespace Sluice.Usenet.Nntp.Admission;

// All gates, in the order in which they are asked. All are asked before one is taken, so a fetch that waits at one holds nothing of another.
// It waits in the LeaseScheduler of its account, which asks again whenever something below has happened.
//
//   Gate       What it limits                                 Who decides              What ends the wait
//   for a command on an open connection, asked by CommandGates
//   Quota      bytes of the data cap of the account           QuotaGate                a reply; a fetch that cannot fit leaves
//   Line       bytes on the wire that no reader waits for     LineCeiling              a reply, or a reader who waits now
//   Depth      commands of one connection                     LeaseTerms               a reply, or another connection
//   Share      the background during playback                 GlobalOperationLimiter   an idle connection, or the end of playback
//   Bandwidth  bytes per second of the process                BandwidthLimiter         a reply, or BandwidthLimiter.Due
//   Permit     connections of each lane in the process        GlobalOperationLimiter   GlobalOperationLimiter.Returned
//   for one more connection, asked by DialGates while a fetch waits
//   Demand     connections that would stay unused             LeaseScheduler.Lacking   another fetch
//   Dials      parallel dials of one account                  NntpOptions              the end of a dial
//   Breaker    dials to a server that cannot be reached       ProviderHealth           the end of its cooldown
//   Rest       trials whether closed sockets still count      LeftSockets              the timer of the pool
//   FirstRow   dials before the first ones have succeeded     DialGates                the end of a dial, or the timer
//   Cap        sockets of one account                         ConnectionCap            a socket that no longer counts
//   Handshake  handshakes in the process                      HandshakeLimit           the end of a handshake
//
// Other accounts ask at the same time. The permit is therefore asked for last and taken in the same step, and the bandwidth limit can be
// overdrawn by a command, for which the next ones wait. A dial waits for its handshake outside of the pool and keeps its slot under the cap
// meanwhile; the slot belongs to its account, so no other could use it.

/// <summary>Where a fetch or a dial has to wait.</summary>
internal enum Gate : byte
{
    /// <summary>No gate: the command or dial may proceed.</summary>
    None,
    Quota,
    Line,
    Depth,
    Share,
    Bandwidth,
    Permit,
    Demand,
    Dials,
    Breaker,
    Rest,
    FirstRow,
    Cap,
}
