using System.Collections.Frozen;

namespace Sluice.Server.WebDav;

/// <summary>
/// One row of the table of verbs (DAV-92): what a kind of path answers to each of them. Dispatch and <c>Allow</c> are both
/// computed from it, so they cannot disagree. Verbs without a cell are not allowed. Immutable.
/// </summary>
internal sealed class PathClass
{
    private readonly FrozenDictionary<string, VerbAnswer> _cells;

    /// <summary>Creates a row.</summary>
    /// <param name="name">What the row is called in messages and tests.</param>
    /// <param name="served">The verbs that a handler answers, in the order of <c>Allow</c>.</param>
    /// <param name="forbidden">The verbs that are understood and refused with 403.</param>
    public PathClass(string name, IReadOnlyList<string> served, IReadOnlyList<string> forbidden)
    {
        Name = name;
        Served = served;
        _cells = served.Select(verb => KeyValuePair.Create(verb, VerbAnswer.Served))
            .Concat(forbidden.Select(verb => KeyValuePair.Create(verb, VerbAnswer.Forbidden)))
            .ToFrozenDictionary(StringComparer.Ordinal);
        Allow = string.Join(", ", served);
        AllowUnmapped = string.Join(", ", served.Where(verb => !NeedsItem(verb)));
    }

    /// <summary>What the row is called.</summary>
    public string Name { get; }

    /// <summary>The verbs that a handler answers.</summary>
    public IReadOnlyList<string> Served { get; }

    /// <summary>The value of <c>Allow</c> where something exists.</summary>
    public string Allow { get; }

    /// <summary>The value of <c>Allow</c> where nothing exists: the verbs that need nothing there.</summary>
    public string AllowUnmapped { get; }

    /// <summary>What a verb gets.</summary>
    public VerbAnswer this[string verb] => _cells.GetValueOrDefault(verb, VerbAnswer.NotAllowed);

    /// <summary>Whether a verb is about something that exists, so that an unknown path answers it with 404 (DAV-20).</summary>
    public static bool NeedsItem(string verb) => verb is Verbs.Get or Verbs.Head or Verbs.PropFind or Verbs.Delete;
}
