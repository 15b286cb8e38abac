using System.Text.Json.Serialization;

namespace Sluice.Server.Database;

/// <summary>Build-time JSON serializers for the types of this folder.</summary>
[JsonSerializable(typeof(BlobGeneration))]
[JsonSerializable(typeof(IReadOnlyCollection<int>))]
[JsonSerializable(typeof(IReadOnlyCollection<long>))]
[JsonSerializable(typeof(IReadOnlyCollection<string>))]
internal sealed partial class DatabaseJson : JsonSerializerContext;
