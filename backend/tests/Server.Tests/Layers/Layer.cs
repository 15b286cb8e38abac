namespace Sluice.Server.Tests.Layers;

/// <summary>One folder of the import table: its path, and the folders to its left that it may use.</summary>
/// <param name="Project">Project and second word of the namespace: <c>Usenet</c>, <c>Server</c> or <c>Tools</c>.</param>
/// <param name="Folder">Folder inside the project, as in the namespace; <c>Program</c> is the project's own folder.</param>
internal sealed record Layer(string Project, string Folder)
{
    /// <summary>The folder for files at the root of a project.</summary>
    public const string Root = "Program";

    /// <summary>Whether each subfolder is a room of its own in the table; otherwise subfolders are part of the folder.</summary>
    public bool HasRooms { get; init; }

    /// <summary>The only folders it may use; null for all folders to its left.</summary>
    public IReadOnlyList<string>? Uses { get; init; }

    /// <summary>The only types it may use, by folder; a folder without an entry may be used completely.</summary>
    public IReadOnlyDictionary<string, string[]> Sees { get; init; } = new Dictionary<string, string[]>();

    /// <summary>The only folders that may use it; null for all folders to its right.</summary>
    public IReadOnlyList<string>? UsedBy { get; init; }

    public string Namespace =>
        $"Sluice.{Project}" + (Folder == Root ? "" : "." + Folder.Replace('/', '.'));

    /// <summary>Path below the root of the repository, with a slash at its end.</summary>
    public string Path =>
        (Project == "Tools" ? "tools/" : $"backend/src/{Project}/") + (Folder == Root ? "" : Folder + "/");
}
