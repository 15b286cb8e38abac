using Sluice.Server.Library;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Streams;

namespace Sluice.Server.Playbacks;

/// <summary>Brief reads of many files by one client, as in a library scan. Covers the last minute.</summary>
internal sealed record LibraryScan(PlaybackClient Client, int Files, long Bytes);

/// <summary>
/// Tracks which client reads which file. Each request opens its file here and joins its client's playback. A playback stays for a minute after its last read,
/// so that successive requests count as one.
/// </summary>
/// <remarks>
/// Thread-safe. <c>_gate</c> guards the table. It is taken to open or find a file, but never to read one. A playback's own lock may be taken inside it. When
/// the table is full, the playbacks read longest ago are dropped.
/// </remarks>
internal sealed class PlaybackRegistry(Playback library, PlaybackStops stops, TimeProvider time)
{
    /// <summary>Maximum playbacks, including scans.</summary>
    public const int MaxPlaybacks = 10_000;

    // Playbacks dropped at a time, so that a scan of many files does not sort the table for every file.
    private const int EvictionBatch = 1_000;

    private static readonly TimeSpan IdleTimeout = TimeSpan.FromSeconds(60);

    private readonly Lock _gate = new();
    private readonly Dictionary<(PlaybackClient Client, Guid File), PlayedFile> _played = [];

    // Ended playbacks that Receipts has not taken yet; at most MaxPlaybacks, because Receipts takes none while the database cannot be written.
    private List<PlayedFile> _forgotten = [];

    // Set once any file was played; never reset.
    private volatile bool _hasPlayed;

    public PlaybackTotals Totals { get; } = new(time);

    /// <summary>Whether a file was played since startup. Reads the field twice, because listing drops expired playbacks and may set it.</summary>
    public bool HasPlayed => _hasPlayed || Array.Exists(All(), static played => played.WasPlayed) || _hasPlayed;

    /// <summary>Opens a part of a file for a client; see <see cref="Playback.OpenAsync"/>.</summary>
    public async Task<ReadOnlyStream> OpenAsync(
        LibraryFile file, PlaybackRequest request, long offset, long length, CancellationToken cancellationToken)
    {
        var openedAt = time.GetTimestamp();
        // A failed open starts no playback, but its log lines may belong to an existing one.
        var known = Find(file, request.Client);
        if (known is not null)
            request.Scope?.Name(known.Id);
        var fresh = known is null ? new ReaderAccount() : null;
        var opened = await library.OpenAsync(file, offset, length, request.Client.Address, fresh ?? known!.Account, cancellationToken);
        var played = Enter(file, request, fresh);
        var stream = new PlayedStream(opened, played, stops, request.Abort, offset, openedAt, time);
        if (played is not null)
            request.Scope?.Name(played.Id);
        played?.Enter(stream);
        return stream;
    }

    /// <summary>Lists playbacks, excluding scans, newest first.</summary>
    public IReadOnlyList<PlayedFile> List() => [.. All().Where(static played => played.IsPlayback).OrderByDescending(static played => played.StartedAt)];

    public IReadOnlyList<LibraryScan> ListScans() =>
    [
        .. All()
            .Where(static played => !played.IsPlayback)
            .GroupBy(static played => played.Client)
            .Select(static scan => new LibraryScan(scan.Key, scan.Count(), scan.Sum(static played => played.Bytes)))
            .OrderByDescending(static scan => scan.Files),
    ];

    public PlayedFile? Find(string id) => All().FirstOrDefault(played => played.Id == id);

    /// <summary>Aborts the requests of a playback and drops it. The client may start another one. Returns false if the id is unknown.</summary>
    public bool Stop(string id)
    {
        if (Find(id) is not { } played)
            return false;
        lock (_gate)
            Forget(played);
        played.Stop();
        return true;
    }

    /// <summary>Returns the playbacks and scans that ended since the last call, each once. Requests of a stopped playback may still be open.</summary>
    public IReadOnlyList<PlayedFile> TakeForgotten()
    {
        All();
        lock (_gate)
        {
            var forgotten = _forgotten;
            _forgotten = [];
            return forgotten;
        }
    }

    /// <summary>Ends all playbacks at shutdown.</summary>
    public void ForgetAll()
    {
        lock (_gate)
        {
            foreach (var played in _played.Values.ToArray())
                Forget(played);
        }
    }

    /// <summary>Called once a second. Returns the number of playbacks with an open request.</summary>
    public int Tick()
    {
        var reading = 0;
        foreach (var played in All())
        {
            _hasPlayed = _hasPlayed || played.WasPlayed;
            if (!played.IsPlayback)
                continue;
            played.Tick();
            reading += played.IsOpen ? 1 : 0;
        }

        return reading;
    }

    private PlayedFile? Find(LibraryFile file, PlaybackClient client)
    {
        lock (_gate)
            return _played.GetValueOrDefault((client, file.Id)) is { } played && !IsExpired(played) ? played : null;
    }

    /// <summary>
    /// Returns the playback of a request, which takes over the request's own account, if any. An account belongs to one playback: if that has ended while
    /// the file was opened, it still pays for the request.
    /// </summary>
    private PlayedFile? Enter(LibraryFile file, PlaybackRequest request, ReaderAccount? fresh)
    {
        var client = request.Client;
        lock (_gate)
        {
            if (_played.TryGetValue((client, file.Id), out var played))
            {
                if (!IsExpired(played))
                {
                    played.Touch();
                    if (fresh is not null)
                        played.Adopt(fresh);
                    return played;
                }

                Forget(played);
            }

            if (_played.Count >= MaxPlaybacks)
                MakeRoom();
            if (_played.Count < MaxPlaybacks)
                return _played[(client, file.Id)] = new PlayedFile(file, request, fresh ?? new ReaderAccount(), Totals, time);
            fresh?.Decide(TrafficLane.Other);
            return null;
        }
    }

    private PlayedFile[] All()
    {
        lock (_gate)
        {
            foreach (var played in _played.Values.Where(IsExpired).ToArray())
                Forget(played);
            return [.. _played.Values];
        }
    }

    private bool IsExpired(PlayedFile played) => time.GetElapsedTime(played.LastReadAt) >= IdleTimeout && !played.IsOpen;

    private void MakeRoom()
    {
        foreach (var played in _played.Values.Where(static played => !played.IsOpen).OrderBy(static played => played.LastReadAt).Take(EvictionBatch).ToArray())
            Forget(played);
    }

    private void Forget(PlayedFile played)
    {
        _hasPlayed = _hasPlayed || played.WasPlayed;
        played.End();
        var key = (played.Client, played.File.Id);
        if (_played.GetValueOrDefault(key) != played)
            return;
        _played.Remove(key);
        if (_forgotten.Count < MaxPlaybacks)
            _forgotten.Add(played);
    }
}
