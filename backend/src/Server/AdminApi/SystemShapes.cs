using System.Text.Json.Serialization;

namespace Sluice.Server.AdminApi;

/// <summary>A thing that the server has looked at by itself.</summary>
/// <param name="Name">What, as in "Database".</param>
/// <param name="Ok">Whether it is as it should be.</param>
/// <param name="Sentence">What was found.</param>
internal sealed record SelfCheck(string Name, bool Ok, string Sentence);

/// <summary>The server itself.</summary>
/// <param name="Version">Its version.</param>
/// <param name="Commit">The commit that it was built from; null where that is not known.</param>
/// <param name="Form">How it was compiled: <c>ordinary</c>, or <c>native</c> with its level.</param>
/// <param name="StartedAt">When it was started.</param>
/// <param name="Mode"><c>normal</c> or <c>safe</c>.</param>
/// <param name="ResidentBytes">Memory that it takes.</param>
/// <param name="BudgetBytes">Memory that articles may take.</param>
/// <param name="FreeBytes">Free on the disk of the data folder; null where that cannot be told.</param>
/// <param name="PlaybackPermits">Connections that playback may use as things are.</param>
/// <param name="ImportPermits">Connections that imports may use as things are.</param>
/// <param name="Checks">What it has looked at by itself.</param>
internal sealed record SystemState(
    string Version, string? Commit, string Form, DateTimeOffset StartedAt, string Mode, long ResidentBytes, long BudgetBytes, long? FreeBytes,
    int PlaybackPermits, int ImportPermits, IReadOnlyList<SelfCheck> Checks);

/// <summary>What other programs are told to reach this server (the cards of the setup, the copy blocks of a file).</summary>
/// <param name="Address">Where the browser has reached it, without a path.</param>
/// <param name="UrlBase">The path in front of everything; empty for none.</param>
/// <param name="IsLoopback">Whether that address works on this machine alone.</param>
/// <param name="LanAddresses">Addresses of this machine in its network, with the port.</param>
/// <param name="ComposeAddress">The address between containers of one compose file.</param>
/// <param name="Port">The port.</param>
/// <param name="WebDavUser">The user of the tree; empty where the tree is open to every client.</param>
/// <param name="SabKey">The key that Sonarr and its relatives are given; null for those who may only read.</param>
/// <param name="MountDir">Where a mount of the tree is for those programs; empty where none is set.</param>
/// <param name="Categories">The categories.</param>
internal sealed record AccessCard(
    string Address, string UrlBase, bool IsLoopback, IReadOnlyList<string> LanAddresses, string ComposeAddress, int Port, string WebDavUser, string? SabKey,
    string MountDir, IReadOnlyList<string> Categories);

/// <summary>How the server stands in JSON, generated at build.</summary>
[JsonSourceGenerationOptions(System.Text.Json.JsonSerializerDefaults.Web)]
[JsonSerializable(typeof(SystemState))]
[JsonSerializable(typeof(AccessCard))]
internal sealed partial class SystemJson : JsonSerializerContext;
