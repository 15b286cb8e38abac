using System.Collections.Concurrent;
using System.Runtime.CompilerServices;
using Sluice.Server.WebDav;

namespace Sluice.Testing.WebDav;

/// <summary>A folder in memory. Thread-safe.</summary>
internal sealed class MemoryCollection(string name) : IStoreCollection
{
    private readonly ConcurrentDictionary<string, IStoreItem> _children = new(StringComparer.Ordinal);

    /// <inheritdoc/>
    public string Name => name;

    /// <inheritdoc/>
    public DateTimeOffset Created { get; init; } = MemoryFile.SomeDay;

    /// <inheritdoc/>
    public DateTimeOffset LastModified { get; init; } = MemoryFile.SomeDay;

    /// <inheritdoc/>
    public bool IsReadOnly => true;

    /// <inheritdoc/>
    public IPropertyManager Properties => LiveProperties.OfCollections;

    /// <inheritdoc/>
    public IStoreFile? Index { get; set; }

    /// <summary>Replaces the children of a listing, for listings that are long or fail.</summary>
    public Func<IEnumerable<IStoreItem>>? Listing { get; set; }

    /// <summary>The answer to every PUT and DELETE of a child; null to perform them.</summary>
    public StoreAnswer? NextAnswer { get; set; }

    /// <summary>Returns the child with this name, or null.</summary>
    public IStoreItem? Child(string child) => _children.GetValueOrDefault(child);

    public T Add<T>(T child)
        where T : IStoreItem
    {
        _children[child.Name] = child;
        return child;
    }

    /// <inheritdoc/>
    public async IAsyncEnumerable<IStoreItem> ReadChildrenAsync([EnumeratorCancellation] CancellationToken cancellationToken)
    {
        var children = Listing?.Invoke() ?? _children.Values.OrderBy(child => child.Name, StringComparer.Ordinal);
        foreach (var child in children)
        {
            await Task.Yield();
            cancellationToken.ThrowIfCancellationRequested();
            yield return child;
        }
    }

    /// <summary>The quota shared with other folders, which counts its reads; null if the folder has its own.</summary>
    public AskedQuota? Quota { get; init; }

    /// <inheritdoc/>
    public object QuotaOwner => (object?)Quota ?? this;

    /// <inheritdoc/>
    public ValueTask<long> GetUsedBytesAsync(CancellationToken cancellationToken)
    {
        Quota?.Ask();
        return ValueTask.FromResult(_children.Values.OfType<IStoreFile>().Sum(file => file.Length));
    }

    /// <inheritdoc/>
    public async ValueTask<StoreAnswer> PutItemAsync(string child, StoreUpload upload, CancellationToken cancellationToken)
    {
        if (NextAnswer is { } answer)
            return answer;
        using var body = new MemoryStream();
        await upload.Body.CopyToAsync(body, cancellationToken);
        var replaced = _children.ContainsKey(child);
        if (replaced && !upload.MayReplace)
            return StoreAnswer.AlreadyExists;
        Add(new MemoryFile(child, body.ToArray()));
        return replaced ? StoreAnswer.Done : StoreAnswer.Created;
    }

    /// <inheritdoc/>
    public ValueTask<StoreAnswer> DeleteItemAsync(string child, CancellationToken cancellationToken) =>
        ValueTask.FromResult(NextAnswer ?? (_children.TryRemove(child, out _) ? StoreAnswer.Done : StoreAnswer.NotFound));
}

/// <summary>A quota that several folders share and that counts how often it is read. Thread-safe.</summary>
internal sealed class AskedQuota
{
    private int _times;

    /// <summary>How often the quota was read.</summary>
    public int Times => Volatile.Read(ref _times);

    public void Ask() => Interlocked.Increment(ref _times);
}
