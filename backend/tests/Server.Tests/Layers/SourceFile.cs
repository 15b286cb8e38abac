using System.Text.RegularExpressions;

namespace Sluice.Server.Tests.Layers;

/// <summary>One C# file for the layer checks.</summary>
internal sealed partial class SourceFile
{
    /// <param name="path">Path below the repository's root, with forward slashes.</param>
    /// <param name="text">The whole text.</param>
    public SourceFile(string path, string text)
    {
        Path = path;
        Text = text;
        Code = CSharpText.WithoutCommentsAndStrings(text);
        Types = [.. TypeDeclaration().Matches(Code)
            .Where(m => !m.Groups["modifiers"].Value.Contains("private", StringComparison.Ordinal))
            .Select(m => m.Groups["name"].Value)];
        Words = Word().Matches(Code).Select(m => m.Value).ToHashSet();
    }

    public string Path { get; }

    public string Text { get; }

    /// <summary>The text without comments and without the contents of string and character literals.</summary>
    public string Code { get; }

    /// <summary>Names of the declared types, without private nested types.</summary>
    public IReadOnlyList<string> Types { get; }

    /// <summary>Every identifier and keyword in the code that does not follow a dot.</summary>
    public IReadOnlySet<string> Words { get; }

    /// <summary>Whether the code names the type, alone or after the last part of its namespace.</summary>
    public bool Names(string type, string folder) =>
        Words.Contains(type) || Regex.IsMatch(Code, $@"\b{folder}\.{type}\b");

    public int Lines => Text.Count(c => c == '\n') + (Text.Length > 0 && Text[^1] != '\n' ? 1 : 0);

    [GeneratedRegex(@"(?<modifiers>(?:\b(?:public|internal|private|protected|static|sealed|abstract|partial|readonly|ref|file|new|unsafe)\s+)*)"
        + @"\b(?:class|struct|interface|enum|record(?:\s+(?:class|struct))?|delegate\s+[\w<>\[\],.?\s]+?)\s+(?<name>[A-Z]\w*)\s*[<({:;\r\n]")]
    private static partial Regex TypeDeclaration();

    [GeneratedRegex(@"(?<![\w.])[A-Za-z_]\w*\b")]
    private static partial Regex Word();
}
