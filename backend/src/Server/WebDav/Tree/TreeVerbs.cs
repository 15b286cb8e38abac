namespace Sluice.Server.WebDav.Tree;

/// <summary>The verb table (DAV-92): how each kind of path responds to each verb. See section 3 of the WebDAV contract.</summary>
internal static class TreeVerbs
{
    private static readonly string[] Reading = [Verbs.Options, Verbs.Get, Verbs.Head, Verbs.PropFind];
    private static readonly string[] Listing = [Verbs.Options, Verbs.PropFind];
    private static readonly string[] Writing = [Verbs.Put, Verbs.Delete];

    /// <summary><c>/</c>. GET returns the README.</summary>
    public static readonly PathClass Root = new("the root", Reading, forbidden: Writing);

    /// <summary><c>/README</c> and <c>/.health</c>.</summary>
    public static readonly PathClass RootFile = new("a file of the root", Reading, forbidden: Writing);

    /// <summary><c>/nzbs</c>. Its children support locks.</summary>
    public static readonly PathClass QueueRoot = new("the queue", Listing, forbidden: [Verbs.Delete], hasLocks: true);

    /// <summary>Category folders in <c>/nzbs</c>.</summary>
    public static readonly PathClass QueueFolder = new(
        "a folder of the queue", [.. Listing, Verbs.Lock, Verbs.Unlock], forbidden: [Verbs.Delete], hasLocks: true);

    /// <summary><c>/nzbs/&lt;category&gt;/&lt;name&gt;</c>, and <c>/nzbs/&lt;name&gt;</c> for an NZB.</summary>
    public static readonly PathClass QueueItem = new(
        "a queue item", [.. Reading, .. Writing, Verbs.Move, Verbs.PropPatch, Verbs.Lock, Verbs.Unlock], forbidden: [], hasLocks: true);

    public static readonly PathClass ContentFolder = new("a folder of the library", Listing, forbidden: Writing);

    /// <summary>Files in <c>/content</c>, and unused names there.</summary>
    public static readonly PathClass ContentFile = new("a file of the library", Reading, forbidden: Writing);

    public static readonly PathClass IdFolder = new("a folder of ids", Listing, forbidden: Writing);

    /// <summary>Files in <c>/.ids</c>, and unused names there.</summary>
    public static readonly PathClass IdFile = new("a file by its id", Reading, forbidden: Writing);

    /// <summary><c>/completed-symlinks</c>, its category folders, and the folder of the probe link.</summary>
    public static readonly PathClass LinkCategory = new("a category of links", Listing, forbidden: Writing);

    /// <summary>Releases in <c>/completed-symlinks</c>, and folders inside them.</summary>
    public static readonly PathClass LinkFolder = new("a folder of links", [.. Listing, Verbs.Delete], forbidden: [Verbs.Put]);

    /// <summary>Links, and unused names next to them.</summary>
    public static readonly PathClass LinkFile = new("a link", [.. Reading, Verbs.Delete], forbidden: [Verbs.Put]);

    /// <summary>The probe link, and unused names next to it. Clients cannot delete the probe link.</summary>
    public static readonly PathClass ProbeLink = new("the probe link", Reading, forbidden: Writing);

    /// <summary>Unknown names at the root.</summary>
    public static readonly PathClass Nothing = new("an unknown name", Reading, forbidden: Writing);

    public static readonly IReadOnlyList<PathClass> All =
    [
        Root, RootFile, QueueRoot, QueueFolder, QueueItem, ContentFolder, ContentFile, IdFolder, IdFile, LinkCategory, LinkFolder, LinkFile, ProbeLink,
        Nothing,
    ];
}
