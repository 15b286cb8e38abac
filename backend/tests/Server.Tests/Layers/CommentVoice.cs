using System.Text.RegularExpressions;

namespace Sluice.Server.Tests.Layers;

/// <summary>
/// Counts clauses that hide their noun ("what it has", "that of those who") in the comments of each room. A low count proves nothing, but
/// comments above the limit read like a translation.
/// </summary>
internal static partial class CommentVoice
{
    /// <summary>Markers per 1,000 words; other projects of this kind have 1.6 to 2.4.</summary>
    private const double MaxRate = 4;

    // Shorter comments are labels, and a room with fewer words has no meaningful rate.
    private const int MinWords = 4;
    private const int MinRoomWords = 250;

    /// <summary>Rooms whose comments have more markers than the limit.</summary>
    public static IReadOnlyList<string> Violations(IReadOnlyList<SourceFile> files) =>
    [
        .. from room in files.GroupBy(file => RoomOf(file.Path))
           let comments = room.SelectMany(file => Comments(file.Text)).Where(comment => Word().Count(comment) >= MinWords).ToList()
           let words = comments.Sum(comment => Word().Count(comment))
           let markers = comments.Sum(comment => Marker().Count(comment))
           where words >= MinRoomWords && markers * 1000.0 / words > MaxRate
           select $"The comments of {room.Key} have {markers} clauses without a noun in {words} words: name the article, the connection, the client.",
    ];

    /// <summary>Returns the room of a file, for example backend/src/Server/Queue or tools/MockNntpServer.</summary>
    private static string RoomOf(string path) => string.Join('/', path.Split('/').SkipLast(1).Take(path.StartsWith("tools/", StringComparison.Ordinal) ? 2 : 4));

    /// <summary>Returns the blocks of comment lines, without their slashes and tags.</summary>
    private static IEnumerable<string> Comments(string text) =>
        Block().Matches(text).Select(block => Tag().Replace(Slashes().Replace(block.Value, " "), " "));

    [GeneratedRegex(@"(^[ \t]*//[^\n]*\n?)+|(?<=[;{}),] *)// [^\n""]*$", RegexOptions.Multiline)]
    private static partial Regex Block();

    [GeneratedRegex(@"^[ \t]*///?", RegexOptions.Multiline)]
    private static partial Regex Slashes();

    [GeneratedRegex("<[^>]*>")]
    private static partial Regex Tag();

    [GeneratedRegex(@"[A-Za-z][\w'’-]*")]
    private static partial Regex Word();

    [GeneratedRegex(
        @"\b(that|what|which) (is|are|was|were|has|have)\b|\b(what|where|how|whose) (it|they|its)\b|\bof (it|its own|them|those)\b|\b(that|those) of\b|\b(one|those) that\b|\bthose who\b",
        RegexOptions.IgnoreCase)]
    private static partial Regex Marker();
}
