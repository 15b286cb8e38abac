using Sluice.Usenet.Nzb;

namespace Sluice.Server.Library;

/// <summary>The message-ids of an open release. A damaged list can be replaced while readers use it. Thread-safe. Owns the opened lists.</summary>
internal sealed class ReleaseIds : IDisposable
{
    private readonly ReleaseIdStore _store;
    private readonly string _hash;
    private readonly SemaphoreSlim _replacing = new(1, 1);

    // Replaced lists stay open until disposal, because readers may still use them.
    private readonly List<MessageIdList> _opened;
    private volatile MessageIdList _current;
    private int _readers = 1;

    private ReleaseIds(ReleaseIdStore store, string hash, MessageIdList list)
    {
        (_store, _hash, _current) = (store, hash, list);
        _opened = [list];
    }

    public static async Task<ReleaseIds> OpenAsync(ReleaseIdStore store, string hash, CancellationToken cancellationToken) =>
        new(store, hash, await store.OpenAsync(hash, cancellationToken));

    /// <summary>Returns the ids of the posted file at these positions in the list.</summary>
    /// <exception cref="StoredNzbLostException">The list is too short for this release.</exception>
    public ISegmentIds Take(SegmentPlaces places) =>
        places.Last < _current.Count ? new PostedFileIds(this, places) : throw new StoredNzbLostException(_hash);

    /// <summary>Sets the number of readers, at least 1.</summary>
    public void KeepFor(int readers)
    {
        Volatile.Write(ref _readers, readers);
        _current.KeepFor(readers);
    }

    public void Dispose()
    {
        foreach (var list in _opened)
            list.Dispose();
        _replacing.Dispose();
    }

    private ValueTask<SegmentIds> GetAsync(int index, CancellationToken cancellationToken)
    {
        var list = _current;
        var found = list.GetAsync(index, cancellationToken);
        return found.IsCompletedSuccessfully ? found : HealAsync(found, list, index, cancellationToken);
    }

    private async ValueTask<SegmentIds> HealAsync(
        ValueTask<SegmentIds> found,
        MessageIdList list,
        int index,
        CancellationToken cancellationToken)
    {
        try
        {
            return await found;
        }
        catch (MessageIdListException)
        {
            return await (await ReplaceAsync(list, cancellationToken)).GetAsync(index, cancellationToken);
        }
    }

    private async Task<MessageIdList> ReplaceAsync(MessageIdList damaged, CancellationToken cancellationToken)
    {
        await _replacing.WaitAsync(cancellationToken);
        try
        {
            if (_current == damaged)
            {
                var derived = await _store.DeriveAsync(_hash, cancellationToken);
                derived.KeepFor(Volatile.Read(ref _readers));
                _opened.Add(derived);
                _current = derived;
            }

            return _current;
        }
        finally
        {
            _replacing.Release();
        }
    }

    private sealed class PostedFileIds(ReleaseIds release, SegmentPlaces places) : ISegmentIds
    {
        public int Count => places.Count;

        public ValueTask<SegmentIds> GetAsync(int index, CancellationToken cancellationToken) =>
            places[index] is var place and not SegmentPlaces.Nowhere
                ? release.GetAsync(place, cancellationToken)
                : new ValueTask<SegmentIds>(SegmentIds.None);
    }
}
