using Sluice.Usenet.Primitives;

namespace Sluice.Server.Database;

/// <summary>Is set after each commit that has accepted an NZB.</summary>
/// <remarks>Thread-safe; one worker waits.</remarks>
internal sealed class AcceptedSignal(TimeProvider time)
{
    private readonly WakeSignal _wake = new(time);

    /// <summary>The table that sets it.</summary>
    public WatchedTable Table => new("queue_file", ["folder", "name"], (_, _) => _wake.Set());

    /// <summary>Waits until it is set, and clears it.</summary>
    public Task WaitAsync(CancellationToken cancellationToken) => _wake.WaitAsync(longest: null, cancellationToken);
}

/// <summary>
/// Notes beside the blobs that NZBs were accepted, so that a database from before that is known as older, also after a kill.
/// </summary>
internal sealed class AcceptedWorker(DatabaseOpening opening, AcceptedSignal accepted, TimeProvider time)
{
    /// <summary>Between two notes: each costs two flushes of the disk. A clean stop notes what is left.</summary>
    public static readonly TimeSpan Pause = TimeSpan.FromSeconds(10);

    /// <summary>Runs until it is canceled.</summary>
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
