using System.Text.Json.Serialization;

namespace Sluice.Server.Database;

/// <summary>How the types of this folder stand in JSON, generated at build.</summary>
[JsonSerializable(typeof(BlobGeneration))]
[JsonSerializable(typeof(IReadOnlyCollection<int>))]
[JsonSerializable(typeof(IReadOnlyCollection<long>))]
[JsonSerializable(typeof(IReadOnlyCollection<string>))]
internal sealed partial class DatabaseJson : JsonSerializerContext;
