using System.IO.Enumeration;
using Sluice.Usenet.Par2;

namespace Sluice.Server.Queue.Steps;

/// <summary>The files of an NZB by their use.</summary>
/// <param name="Targets">Files to probe, in NZB order, without blocked names. PAR2 volumes are included because probing them costs nothing.</param>
/// <param name="Payload">Targets that may become library files or contain some.</param>
internal sealed record PostSort(IReadOnlyList<PostedEntry> Targets, IReadOnlyList<PostedEntry> Payload)
{
    public static PostSort Nothing { get; } = new([], []);

    public long Segments { get; } = Payload.Sum(file => (long)file.Segments);

    /// <summary>Sorts files by name alone.</summary>
    /// <param name="blocklist">Patterns of names to leave out.</param>
    public static PostSort Of(IReadOnlyList<PostedEntry> files, IReadOnlyList<string> blocklist)
    {
        // PAR2 files are always read, because their content helps even if they are not published.
        List<PostedEntry> targets = [.. files.Where(file => IsPar2(file) || !IsBlocked(file.SubjectName))];
        return new PostSort(targets, [.. targets.Where(file => !IsPar2(file))]);

        bool IsBlocked(string? name) => name is not null && blocklist.Any(pattern => FileSystemName.MatchesSimpleExpression(pattern, name));
    }

    private static bool IsPar2(PostedEntry file) => Par2Name.Parse(file.SubjectName) is not null;
}
