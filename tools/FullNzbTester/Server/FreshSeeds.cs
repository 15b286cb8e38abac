using Sluice.Tools.FullNzbTester.Sessions;

namespace Sluice.Tools.FullNzbTester.Server;

/// <summary>
/// Seeds of releases that a server has not seen in this call. Those that are read whole come first, so that the mock can encode
/// them ahead. Not thread-safe.
/// </summary>
internal sealed class FreshSeeds(ulong first, int runs, bool plays)
{
    // Far from the others, whatever the number of runs.
    private const ulong Elsewhere = 1_000_000;

    private ulong _others;

    /// <summary>How many seeds from the first on are those of releases that are read whole.</summary>
    public int ReadWhole => plays ? 2 * runs : runs;

    /// <summary>The next seed.</summary>
    /// <param name="run">Number of the run, from 1.</param>
    /// <param name="use">What for.</param>
    public ulong Next(int run, SessionUse use) => use switch
    {
        SessionUse.Sequential => first + (ulong)(run - 1),
        SessionUse.Playback when plays => first + (ulong)(runs + run - 1),
        _ => first + Elsewhere + _others++,
    };
}
