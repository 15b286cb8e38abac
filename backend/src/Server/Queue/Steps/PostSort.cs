using System.IO.Enumeration;
using Sluice.Usenet.Par2;

namespace Sluice.Server.Queue.Steps;

/// <summary>The files of an NZB, grouped by use.</summary>
/// <param name="Targets">Files to probe, in NZB order, without blocked names. Includes PAR2 volumes, because probing them costs nothing.</param>
/// <param name="Payload">Targets that may be library files or contain some.</param>
internal sealed record PostSort(IReadOnlyList<PostedEntry> Targets, IReadOnlyList<PostedEntry> Payload)
{
    public static PostSort Nothing { get; } = new([], []);

    public long Segments { get; } = Payload.Sum(file => (long)file.Segments);

    /// <summary>Groups files by name alone. Omits names that match a blocklist pattern.</summary>
    public static PostSort Of(IReadOnlyList<PostedEntry> files, IReadOnlyList<string> blocklist)
    {
        // Always read PAR2 files, because their content helps even if the files are not published.
        List<PostedEntry> targets = [.. files.Where(file => IsPar2(file) || !IsBlocked(file.SubjectName))];
        return new PostSort(targets, [.. targets.Where(file => !IsPar2(file))]);

        bool IsBlocked(string? name) => name is not null && blocklist.Any(pattern => FileSystemName.MatchesSimpleExpression(pattern, name));
    }

    private static bool IsPar2(PostedEntry file) => Par2Name.Parse(file.SubjectName) is not null;
}
