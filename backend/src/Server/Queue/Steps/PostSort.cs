using System.IO.Enumeration;
using Sluice.Usenet.Par2;

namespace Sluice.Server.Queue.Steps;

/// <summary>The files of an NZB by what becomes of them.</summary>
/// <param name="Targets">All that are probed, in the order of the NZB: not those that the settings keep out. PAR2 volumes cost nothing.</param>
/// <param name="Payload">Those of them that may become library files, or hold some.</param>
internal sealed record PostSort(IReadOnlyList<PostedEntry> Targets, IReadOnlyList<PostedEntry> Payload)
{
    /// <summary>No files.</summary>
    public static PostSort Nothing { get; } = new([], []);

    /// <summary>Segments of the payload.</summary>
    public long Segments { get; } = Payload.Sum(file => (long)file.Segments);

    /// <summary>Sorts the files by their names alone.</summary>
    /// <param name="files">All files of the NZB.</param>
    /// <param name="blocklist">Patterns of names that are not published.</param>
    public static PostSort Of(IReadOnlyList<PostedEntry> files, IReadOnlyList<string> blocklist)
    {
        // What a PAR2 set says is wanted, whether it is published or not.
        List<PostedEntry> targets = [.. files.Where(file => IsPar2(file) || !IsBlocked(file.SubjectName))];
        return new PostSort(targets, [.. targets.Where(file => !IsPar2(file))]);

        bool IsBlocked(string? name) => name is not null && blocklist.Any(pattern => FileSystemName.MatchesSimpleExpression(pattern, name));
    }

    private static bool IsPar2(PostedEntry file) => Par2Name.Parse(file.SubjectName) is not null;
}
