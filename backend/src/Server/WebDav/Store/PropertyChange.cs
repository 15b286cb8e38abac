namespace Sluice.Server.WebDav;

/// <summary>One step of a PROPPATCH.</summary>
/// <param name="Name">The property.</param>
/// <param name="Markup">Its new element with its own tags, or null to remove it.</param>
internal sealed record PropertyChange(DavName Name, string? Markup);
