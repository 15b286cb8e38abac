using Sluice.Server.Database;
using Sluice.Server.Events;

namespace Sluice.Server.Library;

/// <summary>The files published from one NZB under one name.</summary>
/// <param name="Id">Row number.</param>
/// <param name="Name">Its folder name.</param>
/// <param name="NzbHash">Hash of the stored NZB and key of its message-id list.</param>
/// <param name="PublishedAt">When the release became visible. All its files show it as Last-Modified.</param>
internal sealed record Release(long Id, string Category, string Name, string NzbHash, DateTimeOffset PublishedAt);

/// <summary>One file of a release. Length and ETag never change once it is visible (DAV-16).</summary>
internal sealed record LibraryFile
{
    /// <summary>The id, which is also the file name below <c>/.ids</c>.</summary>
    public required Guid Id { get; init; }

    public required Release Release { get; init; }

    /// <summary>The path inside the release, separated by <c>/</c>.</summary>
    public required string Path { get; init; }

    /// <summary>The posted name if it differs; otherwise null. For display only.</summary>
    public string? OriginalName { get; init; }

    public required long Length { get; init; }

    /// <summary>Strong validator without quotes, see <see cref="ContentTag"/> (DAV-60).</summary>
    public required string ETag { get; init; }

    /// <summary>The byte ranges of posted files, serialized by <see cref="ContentMap"/>.</summary>
    public required ReadOnlyMemory<byte> Content { get; init; }

    public string Name => Path[(Path.LastIndexOf('/') + 1)..];

    /// <summary>The path below <c>/content</c>. The built-in clip is directly in its category, because it has no release row.</summary>
    public string TreePath => Release.Id == 0 ? $"{Release.Category}/{Path}" : $"{Release.Category}/{Release.Name}/{Path}";

    public DateTimeOffset LastModified => Release.PublishedAt;
}

/// <summary>Releases were added, changed or removed. Each is named by its folder below <c>/content</c>, such as <c>movies/Some.Release</c>.</summary>
internal sealed record ReleasesChanged(IReadOnlyList<string>? Changed, IReadOnlyList<string>? Removed) : RowsEvent(Changed, Removed)
{
    public override string Type => "library.changed";

    /// <summary>Watches the release table and publishes its changes.</summary>
    public static WatchedTable Watch(EventFeed feed) =>
        new("release", ["category", "name"], (changed, removed) => feed.Publish(new ReleasesChanged(Limit(changed), Limit(removed))));
}
