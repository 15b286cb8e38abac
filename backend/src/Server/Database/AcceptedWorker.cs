using Sluice.Usenet.Primitives;

namespace Sluice.Server.Database;

/// <summary>Signals that a commit has accepted an NZB.</summary>
/// <remarks>Thread-safe. Only one worker may wait.</remarks>
internal sealed class AcceptedSignal(TimeProvider time)
{
    private readonly WakeSignal _wake = new(time);

    public WatchedTable Table => new("queue_file", ["folder", "name"], (_, _) => _wake.Set());

    public Task WaitAsync(CancellationToken cancellationToken) => _wake.WaitAsync(longest: null, cancellationToken);
}

/// <summary>Records accepted NZBs in the file next to the blobs, so that an older backup is recognized even if the server was killed.</summary>
internal sealed class AcceptedWorker(DatabaseOpening opening, AcceptedSignal accepted, TimeProvider time)
{
    /// <summary>Minimum time between two records, because each costs two disk flushes. A clean shutdown always records.</summary>
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
