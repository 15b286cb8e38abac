using Sluice.Tools.FullNzbTester.Sessions;

namespace Sluice.Tools.FullNzbTester.Server;

/// <summary>Seeds of releases that a server has not seen in this call. Not thread-safe.</summary>
internal sealed class FreshSeeds(ulong first)
{
    // Far from those of the sequential reads, whatever the number of runs.
    private const ulong Elsewhere = 1_000_000;

    private ulong _others;

    /// <summary>The next seed.</summary>
    /// <param name="run">Number of the run, from 1.</param>
    /// <param name="use">What for; one release of a run is read from its start.</param>
    public ulong Next(int run, SessionUse use) => use == SessionUse.Sequential ? first + (ulong)(run - 1) : first + Elsewhere + _others++;
}
