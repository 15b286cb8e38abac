using Sluice.Server.Library;
using Sluice.Usenet.Streams;

namespace Sluice.Server.Playbacks;

/// <summary>Short looks of one client into many files, as a library scan takes them.</summary>
/// <param name="Client">The client.</param>
/// <param name="Files">Files of the last minute.</param>
/// <param name="Bytes">Bytes of the last minute.</param>
internal sealed record LibraryScan(PlaybackClient Client, int Files, long Bytes);

/// <summary>
/// Who reads what: every request for a library file opens it here, and belongs to the playback of its client. A playback is kept for a minute
/// after its last read, so that one whose requests come and go is one all the same.
/// </summary>
/// <remarks>
/// Thread-safe. <c>_gate</c> guards the table, and is taken when a file is opened or looked for, never for a read; the lock of a playback is
/// taken below it. Bounded: of very many files the one that was read longest ago makes room.
/// </remarks>
internal sealed class PlaybackRegistry(Playback library, TimeProvider time)
{
    /// <summary>Playbacks and looks of scans that are kept.</summary>
    public const int Most = 10_000;

    // Made room for at a time, so that a scan of very many files does not look through all for each.
    private const int Room = 1_000;

    private static readonly TimeSpan Kept = TimeSpan.FromSeconds(60);

    private readonly Lock _gate = new();
    private readonly Dictionary<(PlaybackClient Client, Guid File), PlayedFile> _played = [];

    // Written as a playback goes on or is forgotten; never taken back.
    private volatile bool _hasPlayed;

    /// <summary>Counts over all playbacks.</summary>
    public PlaybackTotals Totals { get; } = new(time);

    /// <summary>Whether a file was played since the start. The look forgets what is over, and notes what of that was played.</summary>
    public bool HasPlayed => _hasPlayed || Array.Exists(All(), static played => played.WasPlayed) || _hasPlayed;

    /// <summary>Opens a part of a file for a client; as <see cref="Playback.OpenAsync"/>.</summary>
    /// <param name="file">The file.</param>
    /// <param name="request">What reads it.</param>
    /// <param name="offset">First byte, 0-based.</param>
    /// <param name="length">Number of bytes.</param>
    /// <param name="cancellationToken">Gives up opening; a read has a token of its own.</param>
    public async Task<ReadOnlyStream> OpenAsync(
        LibraryFile file, PlaybackRequest request, long offset, long length, CancellationToken cancellationToken)
    {
        var openedAt = time.GetTimestamp();
        // What cannot be opened is no playback, but it may belong to one.
        if (Find(file, request.Client) is { } known)
            request.Scope?.Name(known.Id);
        var stream = await library.OpenAsync(file, offset, length, request.Client.Address, cancellationToken);
        if (Enter(file, request.Client) is not { } played)
            return stream;
        request.Scope?.Name(played.Id);
        var opened = new PlayedStream(stream, played, request.Abort, offset, openedAt, time);
        played.Enter(opened);
        return opened;
    }

    /// <summary>The playbacks of their own, the newest first.</summary>
    public IReadOnlyList<PlayedFile> List() => [.. All().Where(static played => played.IsTelling).OrderByDescending(static played => played.StartedAt)];

    /// <summary>All others, by client.</summary>
    public IReadOnlyList<LibraryScan> ListScans() =>
    [
        .. All()
            .Where(static played => !played.IsTelling)
            .GroupBy(static played => played.Client)
            .Select(static scan => new LibraryScan(scan.Key, scan.Count(), scan.Sum(static played => played.Bytes)))
            .OrderByDescending(static scan => scan.Files),
    ];

    /// <summary>A playback by its id; null where there is none any more.</summary>
    public PlayedFile? Find(string id) => All().FirstOrDefault(played => played.Id == id);

    /// <summary>Ends a playback: its requests are aborted, and it is forgotten. Its client may come again, as another one.</summary>
    /// <returns>Whether there was one.</returns>
    public bool Stop(string id)
    {
        if (Find(id) is not { } played)
            return false;
        lock (_gate)
            Forget(played);
        played.Stop();
        return true;
    }

    /// <summary>A second is over.</summary>
    /// <returns>Playbacks that are being read.</returns>
    public int Tick()
    {
        var reading = 0;
        foreach (var played in All())
        {
            _hasPlayed = _hasPlayed || played.WasPlayed;
            if (!played.IsTelling)
                continue;
            played.Tick();
            reading += played.IsOpen ? 1 : 0;
        }

        return reading;
    }

    private PlayedFile? Find(LibraryFile file, PlaybackClient client)
    {
        lock (_gate)
            return _played.GetValueOrDefault((client, file.Id)) is { } played && !IsOver(played) ? played : null;
    }

    private PlayedFile? Enter(LibraryFile file, PlaybackClient client)
    {
        lock (_gate)
        {
            if (_played.TryGetValue((client, file.Id), out var played) && !IsOver(played))
            {
                played.Touch();
                return played;
            }

            if (_played.Count >= Most)
                MakeRoom();
            return _played.Count >= Most ? null : _played[(client, file.Id)] = new PlayedFile(file, client, Totals, time);
        }
    }

    private PlayedFile[] All()
    {
        lock (_gate)
        {
            foreach (var played in _played.Values.Where(IsOver).ToArray())
                Forget(played);
            return [.. _played.Values];
        }
    }

    private bool IsOver(PlayedFile played) => time.GetElapsedTime(played.LastReadAt) >= Kept && !played.IsOpen;

    private void MakeRoom()
    {
        foreach (var played in _played.Values.Where(static played => !played.IsOpen).OrderBy(static played => played.LastReadAt).Take(Room).ToArray())
            Forget(played);
    }

    private void Forget(PlayedFile played)
    {
        _hasPlayed = _hasPlayed || played.WasPlayed;
        var key = (played.Client, played.File.Id);
        if (_played.GetValueOrDefault(key) == played)
            _played.Remove(key);
    }
}
