using System.Data;
using Dapper;

// Dapper's generator replaces every call at build time, so that no row or parameter needs reflection at run time.
[module: DapperAot]

namespace Sluice.Server.Database;

/// <summary>A byte array as one SQL parameter, because the generator would expand a plain array into a list of values.</summary>
internal readonly record struct SqlBytes(byte[]? Value) : SqlMapper.ICustomQueryParameter
{
    public void AddParameter(IDbCommand command, string name)
    {
        var parameter = command.CreateParameter();
        parameter.ParameterName = name;
        parameter.DbType = DbType.Binary;
        parameter.Value = Value ?? (object)DBNull.Value;
        command.Parameters.Add(parameter);
    }
}
