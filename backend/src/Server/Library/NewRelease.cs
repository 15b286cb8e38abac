namespace Sluice.Server.Library;

/// <summary>A release that is about to be published.</summary>
/// <param name="Category">Name of its category folder.</param>
/// <param name="Name">Name of its own folder, free in that category.</param>
/// <param name="NzbHash">Content id of the stored NZB.</param>
/// <param name="PostedFiles">Every posted file that a library file refers to.</param>
/// <param name="Files">The library files; no two of one path.</param>
internal sealed record NewRelease(
    string Category,
    string Name,
    string NzbHash,
    IReadOnlyList<StoredPostedFile> PostedFiles,
    IReadOnlyList<NewLibraryFile> Files);

/// <summary>A library file that is about to be published.</summary>
/// <param name="Id">A new id.</param>
/// <param name="Path">Place inside the release, separated by <c>/</c>; clean by DAV-13.</param>
/// <param name="OriginalName">The posted name where it differs.</param>
/// <param name="Length">Exact length in bytes.</param>
/// <param name="ETag">By <see cref="ContentTag"/>.</param>
/// <param name="Content">What it is made of.</param>
internal sealed record NewLibraryFile(
    Guid Id,
    string Path,
    string? OriginalName,
    long Length,
    string ETag,
    IReadOnlyList<ContentExtent> Content);
