namespace Sluice.Server.Library;

/// <summary>Everything that one NZB brought, under one name.</summary>
/// <param name="Id">Row number.</param>
/// <param name="Category">Name of its category folder below <c>/content</c>.</param>
/// <param name="Name">Name of its own folder.</param>
/// <param name="NzbHash">Content id of the stored NZB and of its list of message-ids.</param>
/// <param name="PublishedAt">When it became visible; the Last-Modified of all that is in it.</param>
internal sealed record Release(long Id, string Category, string Name, string NzbHash, DateTimeOffset PublishedAt);

/// <summary>One playable file of a release. Length and ETag never change once it is visible (DAV-16).</summary>
internal sealed record LibraryFile
{
    /// <summary>The file's own id, the last segment of its <c>/.ids</c> path.</summary>
    public required Guid Id { get; init; }

    /// <summary>The release that it is part of.</summary>
    public required Release Release { get; init; }

    /// <summary>Its place inside the release, with inner folders, separated by <c>/</c>.</summary>
    public required string Path { get; init; }

    /// <summary>The name it was posted under where that differs, for display only.</summary>
    public string? OriginalName { get; init; }

    /// <summary>Exact length in bytes.</summary>
    public required long Length { get; init; }

    /// <summary>Strong validator without its quotes, by <see cref="ContentTag"/> (DAV-60).</summary>
    public required string ETag { get; init; }

    /// <summary>Which stretches of which posted files it is made of, in the form of <see cref="ContentMap"/>.</summary>
    public required ReadOnlyMemory<byte> Content { get; init; }

    /// <summary>The last part of its path.</summary>
    public string Name => Path[(Path.LastIndexOf('/') + 1)..];

    /// <summary>Its path below <c>/content</c>. The built-in clip, whose release has no row, lies in its category folder.</summary>
    public string TreePath => Release.Id == 0 ? $"{Release.Category}/{Path}" : $"{Release.Category}/{Release.Name}/{Path}";

    /// <summary>When it became visible.</summary>
    public DateTimeOffset LastModified => Release.PublishedAt;
}
