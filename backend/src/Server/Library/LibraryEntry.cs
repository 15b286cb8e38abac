namespace Sluice.Server.Library;

/// <summary>A collection or file in <c>/content</c>.</summary>
/// <param name="Name">The last segment of the path; empty for the root.</param>
/// <param name="LastModified">Publish time; for a collection, the publish time of its newest member.</param>
internal abstract record LibraryEntry(string Name, DateTimeOffset LastModified);

/// <summary><c>/content</c> itself.</summary>
internal sealed record RootEntry(DateTimeOffset LastModified) : LibraryEntry("", LastModified);

/// <summary>A category folder that is configured, in use, or reserved for the built-in clip.</summary>
internal sealed record CategoryEntry(string Name, DateTimeOffset LastModified) : LibraryEntry(Name, LastModified);

internal sealed record ReleaseEntry(Release Release) : LibraryEntry(Release.Name, Release.PublishedAt);

/// <summary>A folder inside a release.</summary>
/// <param name="Path">The path inside the release, separated by <c>/</c>.</param>
internal sealed record FolderEntry(Release Release, string Path)
    : LibraryEntry(Path[(Path.LastIndexOf('/') + 1)..], Release.PublishedAt);

internal sealed record FileEntry(LibraryFile File) : LibraryEntry(File.Name, File.LastModified);
