using System.Diagnostics.CodeAnalysis;

namespace Sluice.Server.WebDav.Locks;

/// <summary>One condition of a list: a state token or an entity tag, possibly negated.</summary>
/// <param name="IsNegated">Whether <c>Not</c> precedes the condition.</param>
internal readonly record struct IfCondition(bool IsNegated, string? Token, EntityTag? Tag);

/// <summary>A list whose conditions must all hold.</summary>
/// <param name="Resource">The tagged resource as written in the header; null for the resource of the request.</param>
/// <param name="Conditions">The conditions, at least one.</param>
internal sealed record IfList(string? Resource, IReadOnlyList<IfCondition> Conditions);

/// <summary>The state of a resource, against which conditions are evaluated.</summary>
internal sealed record ResourceState(IReadOnlyCollection<string> Tokens, EntityTag? Tag);

/// <summary>The parsed <c>If</c> header (RFC 4918, section 10.4). It holds if any list holds. Naming a token also submits it for its lock. Immutable.</summary>
internal sealed class IfHeader
{
    private IfHeader(IReadOnlyList<IfList> lists) => Lists = lists;

    public IReadOnlyList<IfList> Lists { get; }

    /// <summary>The tokens that the client submits. A negated token is not submitted.</summary>
    public IEnumerable<string> Submitted =>
        Lists.SelectMany(list => list.Conditions).Where(condition => !condition.IsNegated).Select(condition => condition.Token).OfType<string>();

    /// <summary>Parses the header; false if its syntax is invalid.</summary>
    public static bool TryParse(ReadOnlySpan<char> text, [NotNullWhen(true)] out IfHeader? header)
    {
        header = IfHeaderReader.TryRead(text, out var lists) ? new IfHeader(lists) : null;
        return header is not null;
    }

    /// <summary>Whether any list holds. Calls <paramref name="stateOf"/> at most once per list, with that list's resource.</summary>
    public bool Holds(Func<string?, ResourceState> stateOf) =>
        Lists.Any(list => stateOf(list.Resource) is var state && list.Conditions.All(condition => Holds(condition, state)));

    private static bool Holds(IfCondition condition, ResourceState state)
    {
        var matches = condition.Token is { } token
            ? state.Tokens.Contains(token)
            : condition.Tag is { } asked && state.Tag is { } current && asked.StrongEquals(current);
        return matches != condition.IsNegated;
    }
}
