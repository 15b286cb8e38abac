namespace Sluice.Tools.MockNntpServer.Articles;

/// <summary>What an NZB needs of an article.</summary>
/// <param name="EncodedLength">Bytes of the body as posted: dots not doubled, no terminator.</param>
/// <param name="Crc">CRC of the decoded part.</param>
internal readonly record struct PostedSize(int EncodedLength, uint Crc);
