namespace Sluice.Server.WebDav;

/// <summary>One cell of the table of verbs.</summary>
internal enum VerbAnswer
{
    /// <summary>405 with <c>Allow</c>.</summary>
    NotAllowed,

    /// <summary>403 where the item exists or would be created, 404 where it would have to exist and does not.</summary>
    Forbidden,

    /// <summary>The handler of the verb answers, always with a refusal: which one depends on the request. Not part of <c>Allow</c>.</summary>
    Refused,

    /// <summary>The handler of the verb answers.</summary>
    Served,
}

/// <summary>
/// One row of the table of verbs (DAV-92): the answers of a kind of path to each verb. Dispatch and <c>Allow</c> are both
/// computed from it, so they cannot disagree. Where a row says nothing about MKCOL, COPY, MOVE and PROPPATCH, their handlers say
/// how they are refused; every other verb without a cell is not allowed. Immutable.
/// </summary>
internal sealed class PathClass
{
    /// <summary>Verbs whose refusal depends on the request: on its Destination, on its properties, on the item at its path.</summary>
    private static readonly string[] Changing = [Verbs.MkCol, Verbs.Copy, Verbs.Move, Verbs.PropPatch];

    private readonly IReadOnlyList<string> _forbidden;

    /// <summary>Creates a row.</summary>
    /// <param name="name">Name of the row in messages and tests.</param>
    /// <param name="served">The verbs that a handler answers, in the order of <c>Allow</c>.</param>
    /// <param name="forbidden">The verbs that are understood and refused with 403.</param>
    /// <param name="hasLocks">Whether there are locks here or below: class 2 of WebDAV.</param>
    public PathClass(
        string name,
        IReadOnlyList<string> served,
        IReadOnlyList<string> forbidden,
        bool hasLocks = false)
    {
        Name = name;
        Served = served;
        Handled = [.. served.Union(Changing)];
        HasLocks = hasLocks;
        _forbidden = forbidden;
        Allow = string.Join(", ", served.Where(verb => !NeedsGap(verb)));
        AllowUnmapped = string.Join(", ", served.Where(verb => !NeedsItem(verb)));
    }

    /// <summary>Name of the row.</summary>
    public string Name { get; }

    /// <summary>The verbs that a handler serves.</summary>
    public IReadOnlyList<string> Served { get; }

    /// <summary>The verbs that a handler answers, if only to refuse them.</summary>
    public IReadOnlyList<string> Handled { get; }

    /// <summary>Whether there are locks here or below.</summary>
    public bool HasLocks { get; }

    /// <summary>The value of <c>Allow</c> where an item exists.</summary>
    public string Allow { get; }

    /// <summary>The value of <c>Allow</c> where nothing exists: the verbs that need nothing there.</summary>
    public string AllowUnmapped { get; }

    /// <summary>The answer to a verb.</summary>
    public VerbAnswer this[string verb] => Served.Contains(verb) ? VerbAnswer.Served
        : _forbidden.Contains(verb) ? VerbAnswer.Forbidden
        : Changing.Contains(verb) ? VerbAnswer.Refused
        : VerbAnswer.NotAllowed;

    /// <summary>Whether a verb needs an existing item, so that an unknown path answers it with 404 (DAV-20).</summary>
    public static bool NeedsItem(string verb) => verb
        is Verbs.Get or Verbs.Head or Verbs.PropFind or Verbs.Delete or Verbs.Copy or Verbs.Move or Verbs.PropPatch;

    /// <summary>Whether a verb is about a name that is free, so that an item there answers it with 405 (DAV-44).</summary>
    public static bool NeedsGap(string verb) => verb == Verbs.MkCol;
}
