using System.Text.RegularExpressions;

namespace Sluice.Server.Tests.Layers;

/// <summary>Finds methods that are too long or have too many branches. Parses text without resolving types.</summary>
internal static partial class MethodSizes
{
    public const int MostLines = 80;
    public const int MostBranches = 25;

    /// <summary>Returns one sentence per method. Arms of a switch expression do not count as branches, because they are rows of a table.</summary>
    public static IReadOnlyList<string> Violations(IReadOnlyList<SourceFile> files) =>
    [
        .. from file in files
           from member in Members(file.Code)
           let head = Head().Match(member).Value
           where head.Contains('(', StringComparison.Ordinal) && !Assignment().IsMatch(WithoutParameters(head))
           let size = (Lines: member.Trim().Count(c => c == '\n') + 1, Branches: Branch().Count(member))
           where size.Lines > MostLines || size.Branches > MostBranches
           select $"{file.Path} has a method of {size.Lines} lines and {size.Branches} branches: {Space().Replace(head, " ").Trim()}",
    ];

    /// <summary>Returns each member of each type, from the end of the previous one to its last brace or semicolon.</summary>
    private static IEnumerable<string> Members(string code)
    {
        // For each open brace, whether it starts a type.
        var open = new Stack<bool>();
        var (start, parentheses) = (0, 0);
        for (var at = 0; at < code.Length; at++)
        {
            var isInType = parentheses == 0 && (open.Count == 0 || open.Peek());
            var isEnd = false;
            switch (code[at])
            {
                case '(' or '[':
                    parentheses++;
                    break;
                case ')' or ']':
                    parentheses--;
                    break;
                case '{':
                    open.Push(isInType && IsType(code[start..at]));
                    start = open.Peek() ? at + 1 : start;
                    break;
                case '}' when open.TryPop(out var wasType):
                    start = wasType ? at + 1 : start;
                    isEnd = !wasType && parentheses == 0 && (open.Count == 0 || open.Peek()) && !GoesOn().IsMatch(code, at + 1);
                    break;
                case ';':
                    isEnd = isInType;
                    break;
            }

            if (isEnd)
            {
                yield return code[start..(at + 1)];
                start = at + 1;
            }
        }
    }

    private static bool IsType(string head) =>
        TypeKeyword().IsMatch(Constraints().Replace(WithoutParameters(head), "")) && !Assignment().IsMatch(WithoutParameters(head)) && !head.Contains("=>", StringComparison.Ordinal);

    private static string WithoutParameters(string head)
    {
        for (var before = ""; before != head;)
            (before, head) = (head, Innermost().Replace(head, ""));
        return head;
    }

    // The text before the body.
    [GeneratedRegex(@"\A(?:\([^)]*\)|\[[^\]]*\]|(?!=>)[^{;])*")]
    private static partial Regex Head();

    [GeneratedRegex(@"[^=!<>]=(?![=>])")]
    private static partial Regex Assignment();

    [GeneratedRegex(@"\([^()]*\)|\[[^\[\]]*\]")]
    private static partial Regex Innermost();

    [GeneratedRegex(@"\bwhere\b[\s\S]*")]
    private static partial Regex Constraints();

    [GeneratedRegex(@"\b(class|struct|interface|enum|record|namespace)\b")]
    private static partial Regex TypeKeyword();

    // Text after a brace that continues the member: an initializer, or the rest of an expression.
    [GeneratedRegex(@"\G\s*[;,).=\]?!]")]
    private static partial Regex GoesOn();

    [GeneratedRegex(@"\b(if|for|foreach|while|case|catch)\b|&&|\|\||\?\?|(?<=\s)\?(?=\s)")]
    private static partial Regex Branch();

    [GeneratedRegex(@"\s+")]
    private static partial Regex Space();
}
