using System.Text.RegularExpressions;

namespace Sluice.Server.Tests.EndToEnd;

/// <summary>A fenced block of a page.</summary>
/// <param name="Line">Line of its fence, from 1.</param>
/// <param name="Language">What stands behind the fence.</param>
/// <param name="Text">What is inside.</param>
/// <param name="Mark">The comment on the line above; null where there is none.</param>
/// <param name="Output">The <c>text</c> block that follows, which is what a reader should see; null where there is none.</param>
internal sealed record GuideBlock(int Line, string Language, string Text, string? Mark, string? Output)
{
    private const string NotRun = "not run: ";
    private const string RunsIf = "runs if: ";

    // What is there to be copied into a file or to be looked at; everything else is for a shell.
    private static readonly string[] Data = ["text", "json", "yaml", "ini", "nginx"];

    public bool IsCommand => !Data.Contains(Language);

    /// <summary>Why it is not run; null where it is.</summary>
    public string? Reason => Behind(NotRun);

    /// <summary>The shell condition under which it can be run on a machine; null where it always can.</summary>
    public string? Condition => Behind(RunsIf);

    private string? Behind(string word) => Mark?.StartsWith(word, StringComparison.Ordinal) == true && Mark.Length > word.Length ? Mark[word.Length..] : null;
}

/// <summary>The fenced blocks of a page for users.</summary>
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

    /// <summary>Whether an output is the one that a page shows, where <c>…</c> stands for anything.</summary>
    public static bool Shows(string expected, string output) => Regex.IsMatch(
        output.TrimEnd(), $"^{string.Join(".*", expected.TrimEnd().Split('…').Select(Regex.Escape))}$", RegexOptions.Singleline | RegexOptions.CultureInvariant);

    /// <summary>What a link to a heading says behind its <c>#</c>.</summary>
    public static string Anchor(string heading) =>
        NoPart().Replace(heading.TrimStart('#').Trim().ToLowerInvariant(), "").Replace(' ', '-');

    [GeneratedRegex("[^a-z0-9 _-]")]
    private static partial Regex NoPart();

    [GeneratedRegex("^<!-- (?<text>.+) -->$")]
    private static partial Regex Comment();
}
