using System.Text;

namespace Sluice.Tools.MockNntpServer.Articles;

/// <summary>An article that the store can make, and its coordinates for the placement of faults.</summary>
/// <param name="MessageId">Name without angle brackets, as asked for.</param>
/// <param name="File">File within the release (or folder within the spool), from 1.</param>
/// <param name="Part">Part within the file (or article within the folder, in the order of file names), from 1.</param>
internal sealed record ArticleReference(string MessageId, int File, int Part)
{
    /// <summary>Stable hash of the name. FNV-1a: any function will do, as its value goes through a finaliser before it is used.</summary>
    public ulong Hash { get; } = Encoding.UTF8.GetBytes(MessageId).Aggregate(0xCBF29CE484222325UL, static (hash, each) => unchecked((hash ^ each) * 0x100000001B3));

    /// <summary>What the name says, when the mock made it.</summary>
    public MockMessageId? Made { get; init; }

    /// <summary>The raw article's path, when it comes from the spool.</summary>
    public string? SpoolPath { get; init; }
}
