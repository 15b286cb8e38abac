using System.Text.RegularExpressions;

namespace Sluice.Server.Tests.EndToEnd;

/// <summary>A fenced block of a page.</summary>
/// <param name="Line">Line of its fence, from 1.</param>
/// <param name="Language">The word after the fence.</param>
/// <param name="Text">The content.</param>
/// <param name="Mark">The comment on the line above; null if there is none.</param>
/// <param name="Output">The following <c>text</c> block, which shows the expected output; null if there is none.</param>
internal sealed record GuideBlock(int Line, string Language, string Text, string? Mark, string? Output)
{
    private const string NotRun = "not run: ";
    private const string RunsIf = "runs if: ";

    // Languages of content to copy into a file or to read; any other block is for a shell.
    private static readonly string[] Data = ["text", "json", "yaml", "ini", "nginx"];

    public bool IsCommand => !Data.Contains(Language);

    /// <summary>Why no test runs the block; null if a test does.</summary>
    public string? Reason => Behind(NotRun);

    /// <summary>The shell condition for running the block on a machine; null if it always runs.</summary>
    public string? Condition => Behind(RunsIf);

    private string? Behind(string word) => Mark?.StartsWith(word, StringComparison.Ordinal) == true && Mark.Length > word.Length ? Mark[word.Length..] : null;
}

/// <summary>Reads the fenced blocks of a page of the guides.</summary>
internal static partial class GuidePage
{
    private const string Fence = "```";

    public static IReadOnlyList<GuideBlock> Read(IEnumerable<string> lines)
    {
        var blocks = new List<GuideBlock>();
        var body = new List<string>();
        GuideBlock? open = null;
        var (before, number, follows) = ("", 0, false);
        foreach (var line in lines)
        {
            number++;
            if (open is null && line.StartsWith(Fence, StringComparison.Ordinal))
            {
                var mark = Comment().Match(before);
                open = new GuideBlock(number, line[Fence.Length..], "", mark.Success ? mark.Groups["text"].Value : null, null);
            }
            else if (open is null)
            {
                follows &= line.Length == 0;
                before = line;
            }
            else if (line != Fence)
            {
                body.Add(line);
            }
            else
            {
                var text = string.Join('\n', body);
                if (open.Language == "text" && follows)
                    blocks[^1] = blocks[^1] with { Output = text };
                else
                    blocks.Add(open with { Text = text });
                follows = blocks[^1].IsCommand && blocks[^1].Output is null;
                (open, before) = (null, "");
                body.Clear();
            }
        }

        return blocks;
    }

    /// <summary>Whether an output matches the output on a page, in which <c>…</c> stands for any text.</summary>
    public static bool Shows(string expected, string output) => Regex.IsMatch(
        output.TrimEnd(), $"^{string.Join(".*", expected.TrimEnd().Split('…').Select(Regex.Escape))}$", RegexOptions.Singleline | RegexOptions.CultureInvariant);

    /// <summary>Returns the anchor of a heading, the part of a link after <c>#</c>.</summary>
    public static string Anchor(string heading) =>
        NoPart().Replace(heading.TrimStart('#').Trim().ToLowerInvariant(), "").Replace(' ', '-');

    [GeneratedRegex("[^a-z0-9 _-]")]
    private static partial Regex NoPart();

    [GeneratedRegex("^<!-- (?<text>.+) -->$")]
    private static partial Regex Comment();
}
