namespace Sluice.Server.WebDav;

/// <summary>One cell of the verb table.</summary>
internal enum VerbAnswer
{
    /// <summary>405 with <c>Allow</c>.</summary>
    NotAllowed,

    /// <summary>403 if the item exists or would be created; 404 if the verb needs an item but there is none.</summary>
    Forbidden,

    /// <summary>The handler refuses with a status that depends on the request. The verb is not listed in <c>Allow</c>.</summary>
    Refused,

    Served,
}

/// <summary>
/// One row of the verb table (DAV-92): how one kind of path responds to each verb. Dispatch and <c>Allow</c> both use it, so they cannot disagree. If a row
/// omits MKCOL, COPY, MOVE or PROPPATCH, the handler chooses the refusal. Any other omitted verb is not allowed. Immutable.
/// </summary>
internal sealed class PathClass
{
    /// <summary>Verbs whose refusal depends on the destination, the properties or the item.</summary>
    private static readonly string[] Changing = [Verbs.MkCol, Verbs.Copy, Verbs.Move, Verbs.PropPatch];

    private readonly IReadOnlyList<string> _forbidden;

    /// <param name="name">Name in messages and tests.</param>
    /// <param name="served">Served verbs, in the order in which <c>Allow</c> lists them.</param>
    /// <param name="hasLocks">Whether locks exist here or below, so that OPTIONS reports WebDAV class 2.</param>
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
        Allow = string.Join(", ", served.Where(verb => !NeedsFreeName(verb)));
        AllowUnmapped = string.Join(", ", served.Where(verb => !NeedsItem(verb)));
    }

    public string Name { get; }

    public IReadOnlyList<string> Served { get; }

    /// <summary>Verbs that need a handler, even if it only refuses them.</summary>
    public IReadOnlyList<string> Handled { get; }

    public bool HasLocks { get; }

    /// <summary>The <c>Allow</c> header if an item exists at the path.</summary>
    public string Allow { get; }

    /// <summary>The <c>Allow</c> header if no item exists: only verbs that need no item.</summary>
    public string AllowUnmapped { get; }

    public VerbAnswer this[string verb] => Served.Contains(verb) ? VerbAnswer.Served
        : _forbidden.Contains(verb) ? VerbAnswer.Forbidden
        : Changing.Contains(verb) ? VerbAnswer.Refused
        : VerbAnswer.NotAllowed;

    /// <summary>Whether a verb needs an existing item. If there is none, the response is 404 (DAV-20).</summary>
    public static bool NeedsItem(string verb) => verb
        is Verbs.Get or Verbs.Head or Verbs.PropFind or Verbs.Delete or Verbs.Copy or Verbs.Move or Verbs.PropPatch;

    /// <summary>Whether a verb needs an unused name. If an item exists, the response is 405 (DAV-44).</summary>
    public static bool NeedsFreeName(string verb) => verb == Verbs.MkCol;
}
