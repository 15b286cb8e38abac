using Sluice.Usenet.Primitives;

namespace Sluice.Server.Database;

/// <summary>Set after each commit that accepts an NZB.</summary>
/// <remarks>Thread-safe; one worker waits.</remarks>
internal sealed class AcceptedSignal(TimeProvider time)
{
    private readonly WakeSignal _wake = new(time);

    public WatchedTable Table => new("queue_file", ["folder", "name"], (_, _) => _wake.Set());

    public Task WaitAsync(CancellationToken cancellationToken) => _wake.WaitAsync(longest: null, cancellationToken);
}

/// <summary>
/// Records accepted NZBs in the file beside the blobs, so that a database restored from before them is recognized as older even after a kill.
/// </summary>
internal sealed class AcceptedWorker(DatabaseOpening opening, AcceptedSignal accepted, TimeProvider time)
{
    /// <summary>Minimum time between two records, because each costs two disk flushes. A clean stop records the rest.</summary>
    public static readonly TimeSpan Pause = TimeSpan.FromSeconds(10);

    public async Task RunAsync(CancellationToken stopping)
    {
        while (true)
        {
            await accepted.WaitAsync(stopping);
            await opening.NoteNumbersAsync(stopping);
            await Task.Delay(Pause, time, stopping);
        }
    }
}
