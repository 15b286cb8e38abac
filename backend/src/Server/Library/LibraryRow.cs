using Sluice.Server.Database;

namespace Sluice.Server.Library;

/// <summary>A query result that holds a release, a file, or both.</summary>
internal sealed record LibraryRow
{
    public long ReleaseId { get; init; }
    public string? Category { get; init; }
    public string? Release { get; init; }
    public string? NzbHash { get; init; }
    public long PublishedAt { get; init; }
    public string? FileId { get; init; }
    public string? PathKey { get; init; }
    public string? OriginalName { get; init; }
    public long? Length { get; init; }
    public string? ETag { get; init; }
    public byte[]? Content { get; init; }
    public long IsFolder { get; init; }

    public Release ToRelease() =>
        new(ReleaseId, Category!, Release!, NzbHash!, StoredTime.Read(PublishedAt));

    public LibraryFile ToFile(Release release) => new()
    {
        Id = Guid.Parse(FileId!),
        Release = release,
        Path = Library.PathKey.ToPath(PathKey!),
        OriginalName = OriginalName,
        Length = Length!.Value,
        ETag = ETag!,
        Content = Content,
    };
}

/// <summary>A category folder with its newest publish time.</summary>
internal sealed record CategoryRow
{
    public required string Name { get; init; }

    // A property, not a constructor parameter, because SQLite reports no type for a computed column without rows.
    public long Newest { get; init; }

    public CategoryEntry Read() => new(Name, StoredTime.Read(Newest));
}
