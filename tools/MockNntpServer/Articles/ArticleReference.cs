using System.Text;

namespace Sluice.Tools.MockNntpServer.Articles;

/// <summary>An article that the store can create, with its coordinates for fault placement.</summary>
/// <param name="MessageId">Name without angle brackets, as requested.</param>
/// <param name="File">1-based file within the release (or folder within the spool).</param>
/// <param name="Part">1-based part within the file (or article within the folder, in file name order).</param>
internal sealed record ArticleReference(string MessageId, int File, int Part)
{
    /// <summary>Stable FNV-1a hash of the name. Any function works, because the value passes through a finalizer before use.</summary>
    public ulong Hash { get; } = Encoding.UTF8.GetBytes(MessageId).Aggregate(0xCBF29CE484222325UL, static (hash, each) => unchecked((hash ^ each) * 0x100000001B3));

    /// <summary>The parsed name; null if the article comes from the spool.</summary>
    public MockMessageId? Made { get; init; }

    /// <summary>Path of the raw article, if it comes from the spool.</summary>
    public string? SpoolPath { get; init; }
}
