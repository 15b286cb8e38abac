using Sluice.Usenet.Nzb;

namespace Sluice.Server.Library;

/// <summary>
/// The unpacked message-ids of releases that are being read. They stay in memory briefly after the last reader, because players reopen a file at each seek. All
/// readers of a release share one list. Thread-safe. Memory is bounded by the open streams plus <see cref="MostIdle"/> idle releases.
/// </summary>
internal sealed class OpenReleases : IDisposable
{
    /// <summary>Maximum idle releases in memory. Each may use 250 KB.</summary>
    public const int MostIdle = 8;

    /// <summary>How long an idle release stays in memory.</summary>
    public static readonly TimeSpan IdleTimeout = TimeSpan.FromSeconds(30);

    private readonly ReleaseIdStore _store;
    private readonly TimeProvider _time;
    private readonly ITimer _timer;
    private readonly Lock _gate = new();
    private readonly Dictionary<string, Opened> _opened = [];

    // Idle releases, longest idle first.
    private readonly LinkedList<Opened> _idle = new();
    private bool _isClosed;

    public OpenReleases(ReleaseIdStore store, TimeProvider time)
    {
        (_store, _time) = (store, time);
        _timer = time.CreateTimer(static state => ((OpenReleases)state!).DropOutdated(), this, Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
    }

    /// <summary>Opens the message-ids of a release. The caller disposes the result.</summary>
    /// <exception cref="StoredNzbLostException">Both the message-id list and the NZB are lost.</exception>
    public async Task<ReleaseUse> OpenAsync(string nzbHash, CancellationToken cancellationToken)
    {
        if (Use(nzbHash, null) is { } known)
            return known;

        // A concurrent call may have opened the same release. Use keeps one list and disposes the other.
        var ids = await ReleaseIds.OpenAsync(_store, nzbHash, cancellationToken);
        return Use(nzbHash, ids)!;
    }

    public void Dispose()
    {
        lock (_gate)
        {
            _isClosed = true;
            while (_idle.First is { } oldest)
                Drop(oldest.Value);
        }

        _timer.Dispose();
    }

    private ReleaseUse? Use(string nzbHash, ReleaseIds? ids)
    {
        lock (_gate)
        {
            if (_opened.TryGetValue(nzbHash, out var opened))
                ids?.Dispose();
            else if (ids is not null)
                _opened.Add(nzbHash, opened = new Opened(nzbHash, ids));
            else
                return null;
            if (opened.Users++ == 0 && opened.Idle.List is not null)
                _idle.Remove(opened.Idle);
            opened.Ids.KeepFor(opened.Users);
            return new ReleaseUse(opened.Ids, () => Leave(opened));
        }
    }

    private void Leave(Opened opened)
    {
        lock (_gate)
        {
            opened.Ids.KeepFor(Math.Max(--opened.Users, 1));
            if (opened.Users > 0)
                return;
            opened.IdleSince = _time.GetTimestamp();
            _idle.AddLast(opened.Idle);
            if (_isClosed || _idle.Count > MostIdle)
                Drop(_idle.First!.Value);
            SetTimer();
        }
    }

    private void DropOutdated()
    {
        lock (_gate)
        {
            while (_idle.First is { } oldest && _time.GetElapsedTime(oldest.Value.IdleSince) >= IdleTimeout)
                Drop(oldest.Value);
            SetTimer();
        }
    }

    private void SetTimer()
    {
        if (_isClosed || _idle.First is not { } oldest)
            return;
        var due = IdleTimeout - _time.GetElapsedTime(oldest.Value.IdleSince);
        _timer.Change(due > TimeSpan.Zero ? due : TimeSpan.Zero, Timeout.InfiniteTimeSpan);
    }

    private void Drop(Opened opened)
    {
        _idle.Remove(opened.Idle);
        _opened.Remove(opened.NzbHash);
        opened.Ids.Dispose();
    }

    private sealed class Opened
    {
        public Opened(string nzbHash, ReleaseIds ids)
        {
            (NzbHash, Ids) = (nzbHash, ids);
            Idle = new LinkedListNode<Opened>(this);
        }

        public string NzbHash { get; }

        public ReleaseIds Ids { get; }

        public LinkedListNode<Opened> Idle { get; }

        public int Users { get; set; }

        public long IdleSince { get; set; }
    }
}

/// <summary>One reader's lease on the message-ids of a release. Thread-safe. The ids are valid until disposal.</summary>
internal sealed class ReleaseUse(ReleaseIds ids, Action leave) : IDisposable
{
    private int _isLeft;

    /// <summary>Returns the ids of the posted file at these positions in the list.</summary>
    /// <exception cref="StoredNzbLostException">The list is too short for this release.</exception>
    public ISegmentIds Take(SegmentPlaces places) => ids.Take(places);

    public void Dispose()
    {
        if (Interlocked.Exchange(ref _isLeft, 1) == 0)
            leave();
    }
}
