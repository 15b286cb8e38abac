using System.Diagnostics.CodeAnalysis;

namespace Sluice.Server.WebDav;

/// <summary>One condition of a list: a state token or an entity tag, wanted or, after <c>Not</c>, unwanted.</summary>
/// <param name="IsNegated">Whether <c>Not</c> stands before it.</param>
/// <param name="Token">The state token, or null.</param>
/// <param name="Tag">The entity tag, or null.</param>
internal readonly record struct IfCondition(bool IsNegated, string? Token, EntityTag? Tag);

/// <summary>Conditions that have to hold together.</summary>
/// <param name="Resource">The resource that they are about, as the header names it; null for that of the request.</param>
/// <param name="Conditions">At least one.</param>
internal sealed record IfList(string? Resource, IReadOnlyList<IfCondition> Conditions);

/// <summary>The state of a resource that conditions are compared with.</summary>
/// <param name="Tokens">The tokens of the locks that cover it.</param>
/// <param name="Tag">Its validator, or null where it has none.</param>
internal sealed record ResourceState(IReadOnlyCollection<string> Tokens, EntityTag? Tag);

/// <summary>
/// The header <c>If</c> as a value (RFC 4918, section 10.4): it holds when one of its lists holds. Naming a token also says that
/// the client owns the lock. Immutable.
/// </summary>
internal sealed class IfHeader
{
    private IfHeader(IReadOnlyList<IfList> lists) => Lists = lists;

    /// <summary>Its lists, in order.</summary>
    public IReadOnlyList<IfList> Lists { get; }

    /// <summary>The tokens that the client submits. One after <c>Not</c> is no claim to a lock.</summary>
    public IEnumerable<string> Submitted =>
        Lists.SelectMany(list => list.Conditions).Where(condition => !condition.IsNegated).Select(condition => condition.Token).OfType<string>();

    /// <summary>Reads the value of the header. False where it breaks the grammar.</summary>
    public static bool TryParse(ReadOnlySpan<char> text, [NotNullWhen(true)] out IfHeader? header)
    {
        header = IfHeaderReader.TryRead(text, out var lists) ? new IfHeader(lists) : null;
        return header is not null;
    }

    /// <summary>Whether one of the lists holds.</summary>
    /// <param name="stateOf">The state of a resource by the reference of its list; asked once per list.</param>
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
