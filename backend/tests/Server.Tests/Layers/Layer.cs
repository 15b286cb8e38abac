namespace Sluice.Server.Tests.Layers;

/// <summary>One folder of the import table: where it is and what it may see of the folders to its left.</summary>
/// <param name="Project">Project and second word of the namespace: <c>Usenet</c>, <c>Server</c> or <c>Tools</c>.</param>
/// <param name="Folder">Folder inside the project, as the namespace goes on; <c>Program</c> is the project's own folder.</param>
internal sealed record Layer(string Project, string Folder)
{
    /// <summary>The folder that holds the files of a project that are in no folder.</summary>
    public const string Root = "Program";

    /// <summary>Whether every folder in it is a room of its own in the table; if not, its folders are part of it.</summary>
    public bool HasRooms { get; init; }

    /// <summary>The only folders it may use; null: everything to its left.</summary>
    public IReadOnlyList<string>? Uses { get; init; }

    /// <summary>Folder to the only types it may name of it; a folder that is not here is used whole.</summary>
    public IReadOnlyDictionary<string, string[]> Sees { get; init; } = new Dictionary<string, string[]>();

    /// <summary>The only folders that may use it; null: everything to its right.</summary>
    public IReadOnlyList<string>? UsedBy { get; init; }

    /// <summary>The namespace of its files.</summary>
    public string Namespace =>
        $"Sluice.{Project}" + (Folder == Root ? "" : "." + Folder.Replace('/', '.'));

    /// <summary>Its path below the repository's root, with a slash at the end.</summary>
    public string Path =>
        (Project == "Tools" ? "tools/" : $"backend/src/{Project}/") + (Folder == Root ? "" : Folder + "/");
}
