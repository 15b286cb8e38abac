using System.Text;

namespace Sluice.Tools.MockNntpServer.Articles;

/// <summary>An article that the store can make, and its coordinates for the placement of faults.</summary>
internal sealed class ArticleReference
{
    /// <summary>A reference to an article of the spool or of arithmetic.</summary>
    public ArticleReference(string messageId, int file, int part)
    {
        MessageId = messageId;
        File = file;
        Part = part;

        // FNV-1a: any stable function of the name will do, as it goes through a finaliser before it is used.
        var hash = 0xCBF29CE484222325UL;
        foreach (var b in Encoding.UTF8.GetBytes(messageId))
            hash = (hash ^ b) * 0x100000001B3;
        Hash = hash;
    }

    /// <summary>Name without angle brackets, as asked for.</summary>
    public string MessageId { get; }

    /// <summary>File within the release (or folder within the spool), from 1.</summary>
    public int File { get; }

    /// <summary>Part within the file (or article within the folder, in the order of file names), from 1.</summary>
    public int Part { get; }

    /// <summary>Stable hash of the name.</summary>
    public ulong Hash { get; }

    /// <summary>What the name says, when the mock made it.</summary>
    public MockMessageId? Made { get; init; }

    /// <summary>The raw article's path, when it comes from the spool.</summary>
    public string? SpoolPath { get; init; }
}
