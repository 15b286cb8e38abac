using Sluice.Tools.FullNzbTester.Sessions;

namespace Sluice.Tools.FullNzbTester.Server;

/// <summary>Seeds of releases that the server has not seen during this call. Not thread-safe.</summary>
internal sealed class FreshSeeds(ulong first)
{
    // Far from the seeds of the sequential reads, so that no number of runs makes them overlap.
    private const ulong Elsewhere = 1_000_000;

    private ulong _others;

    /// <param name="run">1-based number of the run.</param>
    /// <param name="use">Purpose of the session. Only one release of a run is read sequentially.</param>
    public ulong Next(int run, SessionUse use) => use == SessionUse.Sequential ? first + (ulong)(run - 1) : first + Elsewhere + _others++;
}
