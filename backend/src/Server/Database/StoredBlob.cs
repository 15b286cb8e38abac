namespace Sluice.Server.Database;

/// <summary>An NZB that is safe on disk.</summary>
/// <param name="Hash">SHA-256 of its plain text, 64 lower-case hex digits: its name.</param>
/// <param name="PlainLength">Bytes of plain text.</param>
/// <param name="StoredLength">Bytes on disk.</param>
internal sealed record StoredBlob(string Hash, long PlainLength, long StoredLength);
