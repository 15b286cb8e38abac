namespace Sluice.Tools.MockNntpServer.Articles;

/// <summary>Size and CRC of an article, as needed for the NZB.</summary>
/// <param name="EncodedLength">Bytes of the body as posted, without dot-stuffing and terminator.</param>
/// <param name="Crc">CRC of the decoded part.</param>
internal readonly record struct PostedSize(int EncodedLength, uint Crc);
