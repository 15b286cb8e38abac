namespace Sluice.Server.Library;

/// <summary>Everything that one NZB brought, under one name.</summary>
/// <param name="Id">Row number.</param>
/// <param name="Category">Name of its category folder below <c>/content</c>.</param>
/// <param name="Name">Name of its own folder.</param>
/// <param name="NzbHash">Content id of the stored NZB and of its list of message-ids.</param>
/// <param name="PublishedAt">When it became visible; the Last-Modified of all that is in it.</param>
internal sealed record Release(long Id, string Category, string Name, string NzbHash, DateTimeOffset PublishedAt);
