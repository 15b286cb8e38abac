namespace Sluice.Server.WebDav;

/// <summary>The content of a PUT.</summary>
/// <param name="Body">The bytes; they arrive while they are read, and belong to the request.</param>
/// <param name="Length">The length that the request declares, or null for a chunked body.</param>
/// <param name="MayReplace">False when the request demands that nothing stands at the name (<c>If-None-Match: *</c>).</param>
internal sealed record StoreUpload(Stream Body, long? Length, bool MayReplace);
