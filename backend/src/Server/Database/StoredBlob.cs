namespace Sluice.Server.Database;

/// <summary>An NZB, or an upload as it came, that is safe on disk.</summary>
/// <param name="Hash">SHA-256 of its bytes, 64 lower-case hex digits: its name.</param>
/// <param name="PlainLength">How many there are.</param>
/// <param name="StoredLength">Bytes on disk.</param>
internal sealed record StoredBlob(string Hash, long PlainLength, long StoredLength);
