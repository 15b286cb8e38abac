using System.Text.Json;
using System.Text.Json.Serialization;

namespace Sluice.Server.AdminApi;

/// <summary>How requests are read and answers are written: by contexts that each resource brings.</summary>
internal static class AdminJson
{
    /// <summary>Adds the rules of ADM-1 and ADM-6 and the contexts of all resources.</summary>
    public static void Configure(JsonSerializerOptions options)
    {
        options.UnmappedMemberHandling = JsonUnmappedMemberHandling.Disallow;
        options.NumberHandling = JsonNumberHandling.Strict;
        options.RespectNullableAnnotations = true;
        options.RespectRequiredConstructorParameters = true;
        var chain = options.TypeInfoResolverChain;
        chain.Insert(0, AdminProblemJson.Default);
        chain.Insert(0, AccessJson.Default);
        chain.Insert(0, SettingsJson.Default);
        chain.Insert(0, WebDavPasswordJson.Default);
        chain.Insert(0, ArrResourceJson.Default);
    }
}
