using Sluice.Server.Library;
using Sluice.Usenet.Par2;

namespace Sluice.Server.Queue;

/// <summary>The files of an NZB by what becomes of them.</summary>
/// <param name="Payload">May become library files, or hold some.</param>
/// <param name="Indexes">Indexes of PAR2 sets, one of each set.</param>
/// <param name="Others">How many are never asked for: PAR2 volumes and what the settings keep out.</param>
internal sealed record PostSort(IReadOnlyList<PostedEntry> Payload, IReadOnlyList<PostedEntry> Indexes, int Others)
{
    /// <summary>Sorts the files by their names alone.</summary>
    /// <param name="files">All files of the NZB.</param>
    /// <param name="showsPar2">Whether PAR2 files are published.</param>
    /// <param name="isKeptOut">Whether the settings keep a name out.</param>
    public static PostSort Of(IReadOnlyList<PostedEntry> files, bool showsPar2, Func<string, bool> isKeptOut)
    {
        List<PostedEntry> par2 = [.. files.Where(file => Par2Name.Parse(file.SubjectName) is not null)];
        List<PostedEntry> payload =
        [
            .. files.Where(file => file.SubjectName is not { } name
                || (Par2Name.Parse(name) is null ? !isKeptOut(name) : showsPar2 && ShownFiles.IsPar2(name))),
        ];
        var indexes = Par2Name.Indexes([.. par2.Select(file => new PostedPar2(file.SubjectName, null, file.EncodedBytes))]);
        return new PostSort(payload, [.. indexes.Select(i => par2[i])], files.Count - payload.Count);
    }
}
